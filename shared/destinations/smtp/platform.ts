import { Type } from 'typebox';
import { definePlatform, noCredentials } from '../sdk/platform.ts';
import { instant } from '../sdk/platform-schemas.ts';

const mailbox = Type.String({ pattern: String.raw`^([^<>\r\n]*<)?[^\s<>@,]+@[^\s<>@,]+>?$` });
const reply = (status: number, code: number, enhanced: string) => ({ status, body: { code, enhanced } });

/** A message in the form that `shared/egress/protocols/smtp.ts` receives. https://www.rfc-editor.org/rfc/rfc5321 */
export const smtpPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '**',
      credentials: noCredentials,
      content: 'json',
      body: Type.Object(
        {
          from: mailbox,
          to: Type.Array(mailbox, { minItems: 1, maxItems: 100 }),
          replyTo: Type.Optional(mailbox),
          subject: Type.String({ pattern: '^[^\\r\\n]*$' }),
          text: Type.String(),
          html: Type.Optional(Type.String()),
          messageId: Type.String({ pattern: '^<[^\\s<>@]+@[^\\s<>@]+>$' }),
          date: instant,
        },
        { additionalProperties: false },
      ),
    },
  ],
  answers: {
    success: () => ({ status: 200, body: { accepted: 1, rejected: 0 } }),
    refusal: () => reply(422, 550, '5.1.1'),
    throttled: { status: 429, body: { code: 421, enhanced: '4.7.0' } },
    endedToken: reply(401, 535, '5.7.8'),
    tooLarge: reply(413, 552, '5.3.4'),
    unavailable: reply(503, 451, '4.3.0'),
  },
});
