import { destinationKinds } from '../../../shared/destinations/registry.ts';

const begin = '<!-- destination kinds: npm run generate -->\n';
const end = '<!-- end of destination kinds -->\n';

/** README.md with the table of all offered destination kinds. Throws if the comments around the table are missing. */
export function withKindsTable(readme: string): string {
  const [before, rest] = readme.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`README.md lacks ${begin.trim()} or ${end.trim()}`);
  return `${before}${begin}\n${kindsTable()}\n${end}${after}`;
}

function kindsTable(): string {
  const rows = destinationKinds
    .map(({ descriptor }) => descriptor)
    .toSorted((a, b) => a.label.localeCompare(b.label, 'en'))
    .map(({ label, id }) => `| ${label} | \`${id}\` |`);
  return ['| Destination | Type |', '| --- | --- |', ...rows, ''].join('\n');
}
