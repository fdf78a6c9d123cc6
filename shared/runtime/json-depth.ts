/**
 * The highest nesting limit that a route may set for a client's JSON. Code that walks events may recurse once per
 * level, and the size of the stack differs between versions of Node.
 */
export const jsonDepthCeiling = 512;

/**
 * Whether arrays and objects of a JSON text nest deeper than `depthMax`. Any text is accepted, as the check precedes
 * parsing.
 */
export function textNestsDeeper(text: string, depthMax: number): boolean {
  return opensMoreThan(text, depthMax) && reachesBelow(text, depthMax);
}

/** Whether arrays and objects of a value nest deeper than `depthMax`. */
export function valueNestsDeeper(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depthMax === 0) return true;
  return Object.values(value).some((member) => valueNestsDeeper(member, depthMax - 1));
}

/**
 * Whether a text has more opening brackets than `levels`, inside or outside of strings. This cheap check avoids a scan
 * of most texts.
 */
function opensMoreThan(text: string, levels: number): boolean {
  // Each level takes two characters: an opening and a closing bracket.
  if (text.length < 2 * levels) return false;
  let left = levels;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

function reachesBelow(text: string, depthMax: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = stringEnd(text, at);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        if (depth > depthMax) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      default:
    }
  }
  return false;
}

/** The index of the quote that closes the string opened at `start`; the text's length if no quote closes it. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return at;
    if (unit === 0x5c) at += 1;
  }
  return text.length;
}
