import type { OfferedKind } from '../../shared/destinations/common-settings.ts';
import { destinationKinds } from '../../shared/destinations/registry.ts';
import type { KindLimits } from '../../shared/destinations/sdk/facts.ts';

const introduction = `# Destination kinds

Made from the code by \`npm run generate\`: each kind declares these facts beside its code, and its contract test holds it
to them. Limits are those the platform publishes; what a request holds here may be less. _Recognises_ is the field by which
the platform knows an event it has, so that a repetition is counted once. Every kind can be tried without an account by
\`POST /rest/v1/destinations/{id}/test\` with \`{"sandbox": true}\`. _Checked_ is when the kind was last
compared with its sources; nothing was sent to a platform for that.
`;

/** The page of every kind this build delivers to. */
export function destinationsPage(): string {
  const kinds = destinationKinds.toSorted((a, b) => a.descriptor.id.localeCompare(b.descriptor.id));
  return [
    introduction,
    '| Kind | Sends | Limits of a request | Recognises | Says what it did not take | Sources | Checked |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...kinds.map(row),
    '',
  ].join('\n');
}

function row({ descriptor, facts }: OfferedKind): string {
  const cells = [
    `${descriptor.label} (\`${descriptor.id}\`)`,
    facts.sends,
    limitsOf(facts.limits),
    facts.deduplicatesBy === undefined ? '–' : `\`${facts.deduplicatesBy}\``,
    facts.errors,
    facts.sources.map((source, index) => `[${index + 1}](${source})`).join(', '),
    facts.checked,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function limitsOf({ events, bytes, ageDays, rate }: KindLimits): string {
  const number = new Intl.NumberFormat('en-GB');
  return [
    events === 1 ? '1 event' : `${number.format(events)} events`,
    ...(bytes === undefined ? [] : [`${number.format(bytes)} bytes`]),
    ...(ageDays === undefined ? [] : [`not older than ${ageDays} days`]),
    ...(rate === undefined ? [] : [rate]),
  ].join(', ');
}
