import { findDestinationKind } from '../../../shared/destinations/registry.ts';
import { platformEvents } from '../../../shared/destinations/sdk/platform-events.ts';
import { standardEvents } from '../../../shared/destinations/sdk/standard-events.ts';
import type { PlatformVocabulary, StandardEvent } from '../../../shared/destinations/sdk/standard-events.ts';

const introduction = `# Standard events

An event with one of these common names, however it is written (\`Order Completed\`, \`order_completed\`, \`orderCompleted\`), or with a
platform's own name for it, reaches each platform under that platform's name. A mapping with an \`eventName\` overrides that.

The value of an event is read from \`value\`, else \`revenue\`, else \`total\`, else the sum of its products; its currency from \`currency\`;
its order from \`order_id\`; its products from \`products\`, \`items\` or \`contents\`, or from the event itself if it is about one product;
a search from \`query\` or \`search_term\`.

An event with the property \`limited_data_use\` (a mapping may set it), or whose visitor has \`consent.limited_data_use\`, is sent to
advertising platforms for limited use, in their own terms: LDU of Meta, Snap and Reddit, TikTok's \`limited_data_use\`,
Pinterest's \`opt_out\` with LDP, Google's denied \`consent\`. LinkedIn has none, and is not sent the event.
`;

const vocabularies: readonly (readonly [string, PlatformVocabulary])[] = Object.entries(platformEvents);

/** The page of all standard events: each platform's name for them, and the fields that carry their values. */
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
      : [`Also the platform’s own names: ${others.map((name) => `\`${name}\``).join(', ')}.\n`]),
    ...(told.length === 0 ? [] : ['| Value | Field of the request |', '| --- | --- |', ...told, '']),
  ];
}
