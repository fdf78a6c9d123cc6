import { hash } from 'node:crypto';
import type { Subject } from '../../routing/values/property-path.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, outboundHead } from '../sdk/event.ts';
import { withinBytes } from '../sdk/http.ts';
import { checkLogin, loginSettings, serverRequest } from '../sdk/login.ts';
import { address, choice, matching, optionalText, requiredText, SettingError } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { compileBodyTemplate, templateSetting, templateSubject } from '../sdk/templates.ts';

const recipientsMax = 10;
const subjectCharactersMax = 200;
const messageBytesMax = 1_048_576;
const standardSubject = '{{event.event}}';
const standardText = '{{event.event}}\n\n{{event.event_properties}}';

const schemes = {
  starttls: { scheme: 'smtp+starttls', port: 587 },
  tls: { scheme: 'smtps', port: 465 },
  none: { scheme: 'smtp', port: 25 },
} as const;

const addressPattern = /^[^\s<>()[\],;:\\"@\p{Cc}]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,62})\.)*[a-z0-9-]{1,63}$/iu;
const asciiPattern = /^[\x21-\x7e]{3,254}$/;

const settings = {
  host: address(
    requiredText(
      { label: 'Server', placeholder: 'smtp.example.com', example: 'smtp.example.com' },
      matching(/^([\w-]{1,63}\.)*[\w-]{1,63}$|^\[[\da-f:.]+\]$/i, 'must be a server name or IP address'),
    ),
  ),
  security: address(
    choice<keyof typeof schemes>({
      label: 'Security',
      options: [
        { label: 'STARTTLS (port 587)', value: 'starttls' },
        { label: 'TLS (port 465)', value: 'tls' },
        { label: 'None (port 25)', value: 'none' },
      ],
      sublabel: "With STARTTLS and TLS, the server's certificate is verified before anything is sent.",
      fallback: 'starttls',
      example: 'starttls',
    }),
  ),
  port: address(optionalText({ label: 'Port', sublabel: 'Only needed for a non-standard port.' }, readPort)),
  ...loginSettings(),
  from: requiredText(
    {
      label: 'From',
      placeholder: 'Shop <shop@example.com>',
      sublabel: 'An address that the server may send from.',
      example: 'Shop <shop@example.com>',
    },
    readMailbox,
  ),
  to: requiredText(
    {
      label: 'To',
      placeholder: 'team@example.com, {{visitor.email}}',
      sublabel: `Up to ${recipientsMax} addresses separated by commas. A placeholder may fill in one address.`,
      example: 'team@example.com',
    },
    (text, key) => text.split(',').map((one) => templateSetting(one.trim(), key)),
  ),
  replyTo: optionalText({ label: 'Reply to', placeholder: 'help@example.com' }, readMailbox),
  subject: optionalText({ label: 'Subject', placeholder: standardSubject }, templateSetting),
  text: optionalText(
    { label: 'Text', placeholder: standardText, sublabel: 'Text with placeholders.' },
    templateSetting,
  ),
  html: optionalText(
    {
      label: 'HTML',
      placeholder: '<p>{{event.event}}</p>',
      sublabel: 'An HTML version in addition to the text. Values are escaped.',
    },
    (text, key) => compileBodyTemplate(text, key, 'text/html'),
  ),
};

/**
 * E-mail through the operator's own server: every event is one message, whose Message-ID is the same in a retry.
 * https://www.rfc-editor.org/rfc/rfc5321
 */
export const smtp = defineDestination({
  id: 'SMTP',
  label: 'E-mail (SMTP)',
  settings,
  exampleSuccess: { status: 200, body: '{"accepted":1,"rejected":0}' },
  facts: {
    sends: 'What the templates produce from an event, as an e-mail',
    limits: { events: 1, bytes: messageBytesMax },
    deduplicatesBy: undefined,
    errors: 'a reply code, one event per message; a message that reaches some recipients counts as delivered',
    sources: [
      'https://www.rfc-editor.org/rfc/rfc5321',
      'https://www.rfc-editor.org/rfc/rfc5322',
      'https://www.rfc-editor.org/rfc/rfc3463',
      'https://www.rfc-editor.org/rfc/rfc8314',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    skips: { identify: 'messages are about actions; to send an identify, give it a name in a mapping' },
  },
  loadPlatform: async () => (await import('./platform.ts')).smtpPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { host, port, from, to, replyTo, html } = given;
  if (to.length > recipientsMax) throw new SettingError('to', `must have at most ${recipientsMax} addresses`);
  checkLogin(given);
  const { scheme, port: standardPort } = schemes[given.security];
  const url = `${scheme}://${host}:${port ?? standardPort}`;
  const subject = given.subject ?? templateSetting(standardSubject, 'subject');
  const text = given.text ?? templateSetting(standardText, 'text');
  const domain = /@([^@<>]+)>?$/.exec(from)?.[1] ?? 'localhost';
  return {
    batchEventsMax: 1,
    accepts: acceptsCustomerEvents,
    buildRequest(events) {
      const event = onlyEvent(events);
      const values = templateSubject(event);
      const body = {
        from,
        to: recipientsOf(to, values),
        ...(replyTo === undefined ? {} : { replyTo }),
        subject: oneLine(subject.renderText(values)),
        text: text.renderText(values).toWellFormed(),
        ...(html === undefined ? {} : { html: html(values).toWellFormed() }),
        messageId: `<${hash('sha256', outboundHead(event).id, 'hex').slice(0, 40)}@${domain}>`,
        date: new Date(event.resolved.event.time).toISOString(),
      };
      return withinBytes(serverRequest({ url, login: given, body, events }), messageBytesMax);
    },
    readAnswer,
  };
}

type Recipients = SettingsOf<typeof settings>['to'];

function recipientsOf(templates: Recipients, values: Subject): readonly string[] {
  const found = new Set(templates.map((template) => template.renderText(values).trim()).filter((one) => one !== ''));
  if (found.size === 0) throw new UnfitEventError('the message has no recipient');
  for (const one of found) if (!isAddress(one)) throw new UnfitEventError('a recipient is not an e-mail address');
  return [...found];
}

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, subjectCharactersMax)
    .toWellFormed();
}

function isAddress(text: string): boolean {
  return asciiPattern.test(text) && addressPattern.test(text);
}

/** Reads `shop@example.com` or `Shop <shop@example.com>`. Throws SettingError for anything else. */
function readMailbox(text: string, key: string): string {
  const [, name = '', inBrackets] = /^([^<>"\p{Cc}]*)<([^<>]+)>$/u.exec(text.trim()) ?? [];
  const bare = inBrackets ?? text.trim();
  if (!isAddress(bare))
    throw new SettingError(key, 'must be an e-mail address, optionally with a name: Shop <shop@example.com>');
  return name.trim() === '' ? bare : `${name.trim()} <${bare}>`;
}

function readPort(text: string, key: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text.trim()) || port < 1 || port > 65_535) {
    throw new SettingError(key, 'must be a port, a whole number from 1 to 65535');
  }
  return port;
}

/** Outcomes of all events: the status classifies the server's reply, whose codes become the reason. */
function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  const said = jsonAnswer(answer);
  const { code, enhanced } = said ?? {};
  if (answer.status === 200)
    return events.map(() => (Number(said?.['accepted']) > 0 ? { kind: 'delivered' } : unreadable));
  if (typeof code !== 'number') return undefined;
  const reason = `SMTP ${code}${typeof enhanced === 'string' && /^[\d.]{5,9}$/.test(enhanced) ? ` ${enhanced}` : ''}`;
  const outcome = outcomeOf(answer.status, reason);
  return events.map(() => outcome);
}

const unreadable: Outcome = { kind: 'retry', reason: 'the response has no result for the message' };

function outcomeOf(status: number, reason: string): Outcome {
  if (status === 401) return { kind: 'retry', reason, refusesAccess: true };
  if (status === 429) return { kind: 'retry', reason, isThrottled: true };
  return { kind: status >= 500 ? 'retry' : 'reject', reason };
}
