import { findDestinationKind } from '../../shared/destinations/registry.ts';
import { platformEvents } from '../../shared/destinations/sdk/platform-events.ts';
import { standardEvents } from '../../shared/destinations/sdk/standard-events.ts';
import type { PlatformVocabulary, StandardEvent } from '../../shared/destinations/sdk/standard-events.ts';

const introduction = `# Standard events

Made from the code by \`npm run generate\`; a test keeps it so, and another looks for every name and parameter below in the
requests that are sent.

An event that goes by one of these common names, however it is written (\`Order Completed\`, \`order_completed\`,
\`orderCompleted\`), or by a platform's own name for it, reaches each platform under that platform's name. A mapping with an
\`eventName\` overrides that: the platform is told the name it gives, in the platform's spelling where it has such a name.
What is an event's value, its goods and so on is read from the properties that shops send: \`value\`, else \`revenue\`, else
\`total\`, else the sum of the goods; \`currency\`; \`order_id\`; \`products\`, \`items\` or \`contents\`, or the event itself where
it is about one product; \`query\`, \`search_term\`.

An event whose property \`limited_data_use\` is true (a mapping may set it, under whatever condition), or else whose visitor has
\`consent.limited_data_use\`, is passed on to advertising platforms for limited use, in the words each has for that: LDU of
Meta, Snap and Reddit, TikTok's \`limited_data_use\`, Pinterest's \`opt_out\` with LDP, Google's denied \`consent\`. LinkedIn has
none, and is not sent it.
`;

const vocabularies: readonly (readonly [string, PlatformVocabulary])[] = Object.entries(platformEvents);

/** The page of all standard events: what each platform calls them, and where it is told their parameters. */
export function standardEventsPage(): string {
  const sections = vocabularies.flatMap(([id, vocabulary]) => section(id, vocabulary));
  return [introduction, '## Common names\n', commonNames(), ...sections].join('\n');
}

function commonNames(): string {
  const rows = Object.values(standardEvents).map(
    ({ label, aliases }) => `| ${label} | ${aliases.map((alias) => `\`${alias}\``).join(', ')} |`,
  );
  return ['| Common name | Also, without case and separators |', '| --- | --- |', ...rows, ''].join('\n');
}

function section(id: string, { names, others = [], parameters, unnamed, source }: PlatformVocabulary): string[] {
  const label = findDestinationKind(id)?.descriptor.label ?? id;
  const named = Object.entries(names).map(
    ([event, name]) => `| ${standardEvents[event as StandardEvent].label} | \`${name}\` |`,
  );
  const told = Object.entries(parameters).map(([parameter, path]) => `| \`${parameter}\` | \`${path}\` |`);
  return [
    `## ${label}\n`,
    `Kind \`${id}\`, after <${source}>. Any other event: ${unnamed}.\n`,
    ...(named.length === 0 ? [] : ['| Event | Sent as |', '| --- | --- |', ...named, '']),
    ...(others.length === 0
      ? []
      : [`Names of its own beside these: ${others.map((name) => `\`${name}\``).join(', ')}.\n`]),
    ...(told.length === 0 ? [] : ['| Parameter | Stands at |', '| --- | --- |', ...told, '']),
  ];
}
