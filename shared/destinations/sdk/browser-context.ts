import { clickIdsProperty, readClickId } from '../../contracts/events/click-ids.ts';
import type { ClickId } from '../../contracts/events/click-ids.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { textOf } from './event.ts';
import type { SentEvent } from './event.ts';

/** The page, app and device of an event. */
export type BrowserContext = {
  /** Page address, http or https. */
  readonly url: string | undefined;
  readonly referrer: string | undefined;
  readonly ip: string | undefined;
  readonly userAgent: string | undefined;
};

/** A server event has no page in its context, so its properties may name the page. */
export function browserContext({ context, properties }: SentEvent): BrowserContext {
  return {
    url: webAddress(context['current_url']) ?? webAddress(properties['url']),
    referrer: webAddress(context['referrer']) ?? webAddress(properties['referrer']),
    ip: textOf(context['ip']),
    userAgent: textOf(context['user_agent']),
  };
}

/**
 * The id that an ad platform set in the browser when a person arrived from one of its ads: a click
 * id, or the id in the platform's cookie. Searched under each name in the properties, the context,
 * the page address, and last on the visitor, which keeps the ids of earlier visits.
 */
export function browserId(event: SentEvent, names: readonly string[]): string | undefined {
  return findBrowserId(event, names)?.id;
}

/** An id, and the time it was first seen in ms since the epoch, if that was before the event. */
export type BrowserId = { readonly id: string; readonly atMs: number | undefined };

/** Like `browserId`, but also returns when the id was first seen. */
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

/** The id of a click in the last 90 days, because ad platforms attribute no conversion to an older click. */
function freshId(click: ClickId | undefined, timeMs: number): string | undefined {
  return click !== undefined && timeMs - click.at <= clickDaysMax * dayMs ? click.id : undefined;
}

/** Most addresses have no such parameter, so only an address that may have one is parsed. */
function parameterOf(page: string | undefined, name: string): string | undefined {
  if (page?.includes(`${name}=`) !== true || !URL.canParse(page)) return undefined;
  return textOf(new URL(page).searchParams.get(name));
}

function webAddress(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && /^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined;
}
