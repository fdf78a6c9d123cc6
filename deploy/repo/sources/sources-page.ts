import { sourceKinds } from '../../../shared/sources/registry.ts';
import type { SourceKind } from '../../../shared/sources/sdk/source-kind.ts';

/** The page of the source kinds that understand their sender's format, generated from their declarations. */
export function sourcesPage(): string {
  return [head, ...sourceKinds.toSorted((a, b) => a.label.localeCompare(b.label)).map(describeKind)].join('\n\n');
}

const head = `# Connect webhooks

A source of one of these types reads what its provider sends to \`https://<gateway>/webhook/<source key>\`: JSON, a form or a multipart
form, compressed with gzip or not; each entry of an array is an event. All of the body stays in the event's properties (of Segment
messages: the properties). The first path that leads to a value counts. A source of the type \`Webhook\` takes any JSON.

- **The address wins.** \`event\`, \`userId\`, \`externalId\`, \`email\`, \`distinctId\`, \`time\`, \`utm_*\` and click ids in the query of the
  address override the body. Other parameters are ignored.
- **Name**: without one the event has the source's name.
- **Id**: a repeated request is one event. With _and content_, a later state of the same thing is another event. Without an id, a repeat
  is a second event.
- **Time**: a time outside the window (\`TIME_PAST_MS_MAX\` back, 5 minutes ahead) is kept as \`original_time\` in the context, and the time
  of arrival is used.
- **Signature**: with \`signingSecret\` set on the source, requests without the provider's signature get 401, and the source takes nothing at
  other addresses. A signature with a time must be within five minutes of now. The secret needs \`SOURCE_SECRETS_KEY\`, the same
  in the control plane and the gateway.
- **Fetched**: some providers send a notice only. With \`accessToken\` set on the source, the pipeline fetches what the notice points to
  after the request was answered; that is an event of its own. The token is sealed with \`SECRETS_KEY\`: no gateway can open it.
- **Errors**: what a provider cannot correct is accepted: unknown events, odd types, long texts. Bodies are refused if they are
  not what they claim (400), too large (413), of another media type (415), or not signed (401).`;

function describeKind(kind: SourceKind): string {
  const { label, type, setUp, notes, signature, fetch, follows } = kind;
  const proof = signature === undefined ? 'not checked' : `${signature.label}; secret: ${signature.secretName}`;
  return [
    `## ${label}`,
    '',
    '| Field | From |',
    '| --- | --- |',
    ...[
      ['Type', `\`${type}\``],
      ['Set up', setUp],
      ...readRows(kind),
      ['Signature', proof],
      ...(fetch === undefined ? [] : [['Fetched with', fetch.tokenName]]),
      ...(notes === undefined ? [] : [['Note', notes]]),
      ['Follows', follows.join(' ')],
    ].map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
  ].join('\n');
}

function readRows({ table, readsFields }: SourceKind): string[][] {
  const { name, id, idCoversContent, time, traits = {}, context = {} } = table;
  const row = (what: string, value: string | undefined): string[][] => (value === undefined ? [] : [[what, value]]);
  const ids = typeof id === 'function' ? 'computed from the body' : id?.map(code).join(' with ');
  const guessed = readsFields ? ['answers, by the names of their fields'] : [];
  const properties = [...Object.keys(traits), ...(table.fullName === undefined ? [] : ['first_name, last_name'])];
  const visitor = [...new Set(properties)].concat(guessed).join(', ');
  return [
    ...row('Name', typeof name === 'function' ? 'computed from the body' : paths(name)),
    ...row('Id', ids === undefined || !idCoversContent ? ids : `${ids} and content`),
    ...row('Time', paths(time)),
    ...row('User id', paths(table.userId)),
    ...row('External id', paths(table.externalId)),
    ...row('E-mail', paths(table.email)),
    ...row('Visitor', visitor || undefined),
    ...row('Context', Object.keys(context).join(', ') || undefined),
    ...row('Address, User-Agent', paths([...(table.ip ?? []), ...(table.userAgent ?? [])])),
  ];
}

const code = (path: string): string => `\`${path}\``;

const paths = (list: readonly string[] | undefined): string | undefined =>
  list === undefined || list.length === 0 ? undefined : list.map(code).join(', ');
