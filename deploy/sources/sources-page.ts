import { sourceKinds } from '../../shared/sources/registry.ts';
import type { SourceKind } from '../../shared/sources/sdk/source-kind.ts';

/** The page of the source kinds that understand their sender: made from their declarations. */
export function sourcesPage(): string {
  return [head, ...sourceKinds.toSorted((a, b) => a.label.localeCompare(b.label)).map(describeKind)].join('\n\n');
}

const head = `# Sources that understand their sender

Made by \`npm run generate\` from \`shared/sources/providers\`: edit there.

A source of one of these types reads what its provider sends to \`https://<gateway>/webhook/<source key>\`: JSON, a form or a
multipart form, compressed with gzip or not; an array is as many events. What is not named here stays in the event's
properties, as all of the body does. The first path that leads to a value counts.

- **The address wins.** \`event\`, \`userId\`, \`externalId\`, \`email\`, \`distinctId\` and \`time\` in its query are taken before
  what the body says, field by field; \`utm_*\` and click ids too. Other parameters are ignored.
- **Name**: without one the event is called as the source.
- **Id**: a repeat of a request is one event. Where it says _and content_, a later state of the same thing is another event.
  Where there is none, a repeat is a second event.
- **Time**: outside the window in which events are taken (\`TIME_PAST_MS_MAX\`, \`TIME_AHEAD_MS_MAX\`) it is kept as
  \`original_time\` in the context, and the event is of its arrival.
- **Signature**: with \`signingSecret\` set on the source, requests without the provider's signature are a 401, and the source
  takes nothing at other addresses. A scheme with a time refuses one that lies more than
  \`WEBHOOK_SIGNATURE_AGE_MS_MAX\` from now. The secret can only be set for the types that have a scheme here, and needs
  \`SOURCE_SECRETS_KEY\`, the same in the control plane and the gateway.
- **Fetched**: some providers only tell that something is there. With \`accessToken\` set on the source what a notice points to
  is fetched by the pipeline after the request was answered, and is an event of its own. The token is sealed with
  \`SECRETS_KEY\`: no gateway can open it.
- **What a provider cannot mend** is no 4xx: unknown events, odd types, null characters and texts that are too long are taken
  (a text that is too long for a visitor's property stays in the event's). Refused are bodies that are not what they say
  (400), too large or of too many events (413), of another media type (415), or not signed (401).`;

function describeKind(kind: SourceKind): string {
  const { label, type, setUp, notes, signature, fetch, follows } = kind;
  const proof = signature === undefined ? 'not checked' : `${signature.label}; secret: ${signature.secretName}`;
  return [
    `## ${label}`,
    '',
    '| | |',
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
  const ids = typeof id === 'function' ? 'worked out from the body' : id?.map(code).join(' with ');
  const guessed = readsFields ? ['answers by what their fields are called'] : [];
  const properties = [...Object.keys(traits), ...(table.fullName === undefined ? [] : ['first_name, last_name'])];
  const visitor = [...new Set(properties)].concat(guessed).join(', ');
  return [
    ...row('Name', typeof name === 'function' ? 'worked out from the body' : paths(name)),
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
