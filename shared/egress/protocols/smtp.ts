import type { Socket } from 'node:net';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { OutboundAnswer, OutboundRequest } from '../outbound.ts';
import { loginOf, protocolAnswer, RefusedError, serverOf } from './protocol.ts';
import type { Network, Protocol, Session } from './protocol.ts';

/** A message in the body of a request. Addresses have the form of RFC 5322. */
const Mail = Type.Object({
  from: Type.String(),
  to: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
  replyTo: Type.Optional(Type.String()),
  subject: Type.String(),
  text: Type.String(),
  html: Type.Optional(Type.String()),
  messageId: Type.String(),
  date: Type.String(),
});
const mail = Compile(Mail);

export type Mail = Static<typeof Mail>;

const standardPorts: Readonly<Record<string, number>> = { 'smtps:': 465, 'smtp+starttls:': 587, 'smtp:': 25 };

/**
 * SMTP: one message per request. `smtps` uses TLS from the start, `smtp+starttls` requires it before login and message,
 * `smtp` uses no TLS. The response is `{"accepted": 1, "rejected": 0}`, or `{"code": 550, "enhanced": "5.1.1"}` from
 * the server's reply. https://www.rfc-editor.org/rfc/rfc5321, https://www.rfc-editor.org/rfc/rfc3463
 */
export const smtpProtocol: Protocol = {
  schemes: Object.keys(standardPorts),
  ports: Object.values(standardPorts),
  sessionsMax: 4,
  async open(request, network) {
    const scheme = new URL(request.url).protocol;
    const server = serverOf(request, standardPorts[scheme] ?? 25);
    const socket = await network.connect({ ...server, isSecure: scheme === 'smtps:' });
    return openSession(request, { scheme, host: server.host, socket, trusted: network.trusted });
  },
};

type Opening = {
  readonly scheme: string;
  readonly host: string;
  readonly socket: Socket;
  readonly trusted: Network['trusted'];
};

async function openSession(request: OutboundRequest, opening: Opening): Promise<Session> {
  const { scheme, host, socket, trusted } = opening;
  const [{ default: Connection }, { default: MailComposer }] = await Promise.all([
    import('nodemailer/lib/smtp-connection'),
    import('nodemailer/lib/mail-composer'),
  ]);
  const connection = new Connection({
    host,
    connection: socket,
    secure: scheme === 'smtps:',
    secured: scheme === 'smtps:',
    requireTLS: scheme === 'smtp+starttls:',
    ignoreTLS: scheme === 'smtp:',
    socketCloseTimeout: 0,
    maxResponseSize: 64 * 1_024,
    ...(trusted === undefined ? {} : { tls: { secureContext: trusted } }),
  });
  let isUsable = true;
  const close = (): void => {
    isUsable = false;
    connection.close();
    socket.destroy();
  };
  socket.once('close', () => (isUsable = false));
  const login = loginOf(request);
  try {
    await step<void>(connection, (done) => connection.connect((error) => done(error ?? null)));
    if (login !== undefined) {
      const { user, password } = login;
      await step(connection, (done) => connection.login({ credentials: { user, pass: password } }, done));
    }
  } catch (error) {
    close();
    const answer = replyOf(error, true);
    throw answer === undefined ? error : new RefusedError(answer);
  }
  return {
    get isUsable() {
      return isUsable;
    },
    close,
    async exchange({ body = '' }) {
      const given: unknown = JSON.parse(body);
      if (!mail.Check(given)) return protocolAnswer(400, { error: 'the body must be a complete message' });
      const built = await new MailComposer({
        ...given,
        date: new Date(given.date),
        disableFileAccess: true,
        disableUrlAccess: true,
      })
        .compile()
        .build();
      try {
        const sent = await step<SMTPConnection.SentMessageInfo>(connection, (done) =>
          connection.send({ from: addressIn(given.from), to: given.to.map(addressIn) }, built, done),
        );
        return protocolAnswer(200, { accepted: sent.accepted.length, rejected: sent.rejected.length });
      } catch (error) {
        // The session is not reused after a transaction that failed halfway.
        isUsable = false;
        const answer = replyOf(error, false);
        if (answer === undefined) throw error;
        return answer;
      }
    },
  };
}

/** Runs one step of a session. An error that ends the connection rejects the step too. */
function step<Result>(
  connection: SMTPConnection,
  run: (done: (error: Error | null, result?: Result) => void) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const over = (settle: () => void): void => {
      connection.off('error', fail);
      connection.off('end', ended);
      // An error between two steps also closes the socket, and the close event makes the session unusable.
      connection.on('error', ignore);
      settle();
    };
    const fail = (error: Error): void => over(() => reject(error));
    const ended = (): void => fail(new Error('the connection ended'));
    connection.off('error', ignore);
    connection.once('error', fail);
    connection.once('end', ended);
    run((error, result) => (error === null ? over(() => resolve(result as Result)) : fail(error)));
  });
}

const ignore = (): void => undefined;

const ofAccess: ReadonlySet<number> = new Set([530, 534, 535, 538]);
const tooLarge: ReadonlySet<number> = new Set([523, 552]);

/**
 * The response for a server's error reply; undefined for other errors. `isOpening`: the reply concerns the destination,
 * not a message.
 */
function replyOf(error: unknown, isOpening: boolean): OutboundAnswer | undefined {
  const { responseCode: code, response = '' } = error as { responseCode?: number; response?: string };
  if (code === undefined || code < 400) return undefined;
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1];
  return protocolAnswer(statusOf(code, isOpening), { code, ...(enhanced === undefined ? {} : { enhanced }) });
}

/** RFC 5321, section 4.2.1: 4yz is temporary, 5yz permanent. */
function statusOf(code: number, isOpening: boolean): number {
  if (code < 500) return 503;
  if (isOpening || ofAccess.has(code)) return 401;
  return tooLarge.has(code) ? 413 : 422;
}

/** The bare address in a mailbox such as `Shop <shop@example.com>`. */
function addressIn(mailbox: string): string {
  return /<([^<>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox.trim();
}
