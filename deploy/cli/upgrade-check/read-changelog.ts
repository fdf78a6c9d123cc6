/** A version of the changelog. */
export type Release = {
  readonly version: string;
  /** What an operator who upgrades to it has to know or do: the entries below its heading "Upgrade". */
  readonly upgrade: readonly string[];
};

/** The releases of a changelog in the form of keepachangelog.com, the newest first; what is not released is left out. */
export function readChangelog(text: string): readonly Release[] {
  const sections = text.split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const found = /^\[?v?(\d+\.\d+\.\d+)\b/.exec(section)?.[1];
    return found === undefined ? [] : [{ version: found, upgrade: entriesOf(section) }];
  });
}

function entriesOf(section: string): readonly string[] {
  const own = section.split(/^### /m).find((part) => /^Upgrade\b/.test(part)) ?? '';
  // An entry may go on in lines that are indented.
  return own
    .split(/^- /m)
    .slice(1)
    .map((entry) => entry.replaceAll(/\s+/g, ' ').trim());
}
