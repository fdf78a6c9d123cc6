import { clickIdsProperty, readClickId } from '../../contracts/events/click-ids.ts';
import type { ClickId } from '../../contracts/events/click-ids.ts';
import { isJsonObject } from '../../runtime/json.ts';
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

/** An event of a server has no page in its context: then its properties may say which it is. */
export function browserContext({ context, properties }: SentEvent): BrowserContext {
  return {
    url: webAddress(context['current_url']) ?? webAddress(properties['url']),
    referrer: webAddress(context['referrer']) ?? webAddress(properties['referrer']),
    ip: textOf(context['ip']),
    userAgent: textOf(context['user_agent']),
  };
}

/**
 * What an ad platform gave the browser when a person came from one of its ads: the id of the click, or of a cookie of
 * its own. Looked for under each name in the properties, the context, the address of the page, and last with the
 * visitor, who keeps those of an earlier visit.
 */
export function browserId(event: SentEvent, names: readonly string[]): string | undefined {
  return findBrowserId(event, names)?.id;
}

/** An id, and since when it is known where that was before the event, in ms since the epoch. */
export type BrowserId = { readonly id: string; readonly atMs: number | undefined };

/** The same with its time. */
export function findBrowserId(event: SentEvent, names: readonly string[]): BrowserId | undefined {
  const { properties, context, visitor } = event;
  const page = textOf(context['current_url']);
  const ids = visitor[clickIdsProperty];
  const clickOf = (name: string) => (isJsonObject(ids) ? readClickId(ids[name]) : undefined);
  for (const look of [
    (name: string) => textOf(properties[name]),
    (name: string) => textOf(context[name]),
    (name: string) => parameterOf(page, name),
    (name: string) => freshId(clickOf(name), event.timeMs),
    (name: string) => textOf(visitor[name]),
    (name: string) => textOf(visitor.custom_properties[name]),
  ]) {
    for (const name of names) {
      const id = look(name);
      if (id === undefined) continue;
      const click = clickOf(name);
      return { id, atMs: click?.id === id && click.at < event.timeMs ? click.at : undefined };
    }
  }
  return undefined;
}

const clickDaysMax = 90;
const dayMs = 86_400_000;

/** Ad platforms attribute nothing to a click of longer ago. */
function freshId(click: ClickId | undefined, timeMs: number): string | undefined {
  return click !== undefined && timeMs - click.at <= clickDaysMax * dayMs ? click.id : undefined;
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
