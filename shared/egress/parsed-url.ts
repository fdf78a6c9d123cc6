/** The parts of a URL a request is made of. */
export type ParsedUrl = { readonly origin: string; readonly host: string; readonly path: string };

const keptMax = 1_000;
const kept = new Map<string, ParsedUrl | undefined>();

/** Parses a URL; undefined when it is none. A destination's URL is nearly always the same, so answers are kept. */
export function parseUrl(text: string): ParsedUrl | undefined {
  if (kept.has(text)) return kept.get(text);
  if (kept.size >= keptMax) kept.clear();
  const parsed = URL.canParse(text) ? partsOf(new URL(text)) : undefined;
  kept.set(text, parsed);
  return parsed;
}

function partsOf({ origin, host, pathname, search }: URL): ParsedUrl {
  return { origin, host, path: pathname + search };
}
