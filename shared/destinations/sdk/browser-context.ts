import { textOf } from './event.ts';
import type { SentEvent } from './event.ts';

/** Where and with what an event happened. */
export type BrowserContext = {
  /** Address of the page, http or https. */
  readonly url: string | undefined;
  readonly referrer: string | undefined;
  readonly ip: string | undefined;
  readonly userAgent: string | undefined;
};

export function browserContext({ context }: SentEvent): BrowserContext {
  return {
    url: webAddress(context['current_url']),
    referrer: webAddress(context['referrer']),
    ip: textOf(context['ip']),
    userAgent: textOf(context['user_agent']),
  };
}

/**
 * What an ad platform gave the browser when somebody came from one of its ads: the id of the click, or of a cookie of
 * its own. Looked for under each name in the properties, the context, the address of the page, and last with the
 * visitor, who keeps those of an earlier visit.
 */
export function browserId(event: SentEvent, names: readonly string[]): string | undefined {
  const { properties, context, visitor } = event;
  const page = textOf(context['current_url']);
  for (const look of [
    (name: string) => textOf(properties[name]),
    (name: string) => textOf(context[name]),
    (name: string) => parameterOf(page, name),
    (name: string) => textOf(visitor[name]),
    (name: string) => textOf(visitor.custom_properties[name]),
  ]) {
    for (const name of names) {
      const id = look(name);
      if (id !== undefined) return id;
    }
  }
  return undefined;
}

/** Most addresses have no such parameter: only one that may is taken apart. */
function parameterOf(page: string | undefined, name: string): string | undefined {
  if (page?.includes(`${name}=`) !== true || !URL.canParse(page)) return undefined;
  return textOf(new URL(page).searchParams.get(name));
}

function webAddress(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && /^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined;
}
