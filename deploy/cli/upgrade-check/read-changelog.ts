/** The version of the changelog's section of changes that no release has yet. */
export const unreleased = 'unreleased';

export type Release = {
  readonly version: string;
  /** Information and steps for operators who upgrade to the release: the entries under its heading "Upgrade". */
  readonly upgrade: readonly string[];
};

/** The releases of a changelog in the format of keepachangelog.com, newest first; the unreleased section is one. */
export function readChangelog(text: string): readonly Release[] {
  const sections = text.split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const found = /^\[?v?(\d+\.\d+\.\d+|unreleased)\b/i.exec(section)?.[1];
    return found === undefined ? [] : [{ version: found.toLowerCase(), upgrade: entriesOf(section) }];
  });
}

function entriesOf(section: string): readonly string[] {
  const own = section.split(/^### /m).find((part) => /^Upgrade\b/.test(part)) ?? '';
  // An entry can continue on indented lines.
  return own
    .split(/^- /m)
    .slice(1)
    .map((entry) => entry.replaceAll(/\s+/g, ' ').trim());
}
