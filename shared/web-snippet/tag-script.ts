/*
 * The source of `/sluice-tags.js`, which runs a tag manager's container in a page. `/sluice.js` loads this script if
 * the source has a container, and passes the visitor's data in `sluice.tags`. The build bundles it with its imports
 * into one small script. It evaluates no text: a CustomScript becomes a script element, with the nonce of the page's
 * `/sluice.js` element if that has one, and runs only if the page's policy permits it.
 */

import { holds } from './tags/page-logic.ts';
import type { Container, ContainerTag, ContainerTrigger } from './tags/container.ts';

type Fields = Readonly<Record<string, unknown>>;
type PageElement = {
  closest?(selector: string): PageElement | null;
  getAttribute(name: string): string | null;
  readonly textContent: string | null;
};
type ScriptElement = {
  src: string;
  nonce: string;
  integrity: string;
  crossOrigin: string;
  async: boolean;
  textContent: string;
  remove(): void;
};

/** Data passed by `/sluice.js`. */
export type Handover = {
  readonly address: string;
  readonly nonce: string | undefined;
  /** Events of the page before this script was loaded, oldest first. */
  readonly events: (readonly [name: string, properties: Fields])[];
  /** The visitor's decisions by purpose, and the defaults for purposes without a decision. */
  decided(): Readonly<Record<string, boolean>>;
  defaults(): Readonly<Record<string, boolean>>;
  track(name: string, properties: Record<string, unknown>): void;
  /** Set by this script; `/sluice.js` calls them for each further event and after each decision. */
  onEvent?: (name: string, properties: Fields) => void;
  onConsent?: () => void;
  /** Set by a CustomScript once it runs, which shows whether the page's policy blocked it. */
  ran?: number;
};

type Page = {
  readonly sluice: { readonly tags: Handover };
  dataLayer?: unknown[];
  readonly Image: new () => { src: string };
  readonly document: {
    readonly readyState: string;
    readonly cookie: string;
    readonly head: { append(element: ScriptElement): void };
    readonly documentElement: { readonly scrollHeight: number };
    createElement(name: 'script'): ScriptElement;
    querySelector(selector: string): PageElement | null;
    addEventListener(type: string, listen: (event: { readonly target: PageElement }) => void, capture?: boolean): void;
  };
  readonly location: { readonly href: string };
  readonly navigator: { readonly globalPrivacyControl?: boolean };
  readonly history: { pushState(...given: unknown[]): void };
  readonly scrollY: number;
  readonly innerHeight: number;
  addEventListener(type: string, listen: () => void, capture?: boolean): void;
};

/** An occurrence in the page that may fire triggers. */
type Happening = {
  readonly type: string;
  readonly name?: string;
  readonly properties?: Fields;
  readonly target?: PageElement;
  readonly trigger?: ContainerTrigger;
};

const page = globalThis as unknown as Page;
const { document, location, navigator, history } = page;
const { tags: handover } = page.sluice;

const warn = (what: string, error: unknown): void => console.warn(`sluice: tag ${what}`, error);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);

const own = <Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** The value at a dotted path of own members; undefined if there is none. */
function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (found === null || found === undefined || !Object.hasOwn(Object(found) as object, name)) return undefined;
    found = (found as Fields)[name];
  }
  return found;
}

function run({ variables, triggers, tags }: Container): void {
  const fired = new Map<ContainerTrigger, number>();
  const done = new Set<ContainerTag>();
  /** Tags that wait for consent, with the happening that last fired them. */
  const waiting = new Map<ContainerTag, Happening>();
  const layer: Record<string, unknown> = {};

  const read = (path: string, now: Happening): unknown => {
    if (path === 'event.event') return now.name;
    const [, property] = /^event\.event_properties\.(.+)/.exec(path) ?? [];
    return property === undefined ? valueOf(path.slice('variables.'.length), now) : at(now.properties, property);
  };
  const valueOf = (name: string, now: Happening): unknown => {
    const [type, value, otherwise] = own(variables, name) ?? ['', '', null];
    let found: unknown;
    try {
      found = find(type, value, now);
    } catch (error) {
      warn(name, error);
    }
    return found ?? otherwise ?? undefined;
  };
  const find = (type: string, value: string, now: Happening): unknown => {
    const url = new URL(location.href);
    switch (type) {
      case 'Constant':
        return value;
      case 'DataLayer':
        return at(layer, value);
      case 'Cookie': {
        const pair = document.cookie.split('; ').find((one) => one.startsWith(`${value}=`));
        return pair && decodeURIComponent(pair.slice(value.length + 1));
      }
      case 'UrlParameter':
        return url.searchParams.get(value);
      case 'UrlPart':
        return { url: url.href, host: url.host, path: url.pathname, query: url.search, fragment: url.hash }[value];
      case 'Element': {
        const [selector = '', attribute] = value.split('@');
        const element = document.querySelector(selector);
        return attribute === undefined || attribute === 'text'
          ? element?.textContent?.trim()
          : element?.getAttribute(attribute);
      }
      case 'Script':
        return value.split('.').reduce<unknown>((found, name) => (found as Fields | undefined)?.[name], page);
      case 'EventProperty':
        return at(now.properties, value);
    }
  };
  const fill = (template: string, now: Happening, encode: (text: string) => string): unknown => {
    const [whole, only] = /^\{\{\s*([^{}]+?)\s*\}\}$/.exec(template) ?? [];
    if (whole !== undefined && encode === String) return valueOf(only ?? '', now);
    return template.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (_all, name: string) => encode(textOf(valueOf(name, now))));
  };

  const matches = (trigger: ContainerTrigger, now: Happening): boolean => {
    if (trigger.type !== now.type || (now.trigger !== undefined && now.trigger !== trigger)) return false;
    if (trigger.event !== undefined && trigger.event !== now.name) return false;
    if (trigger.selector !== undefined && !now.target?.closest?.(trigger.selector)) return false;
    return trigger.logic === undefined || holds(trigger.logic, (path) => read(path, now));
  };
  const happen = (now: Happening): void => {
    const matched = triggers.map((trigger) => {
      try {
        return matches(trigger, now);
      } catch (error) {
        warn(trigger.type, error);
        // A trigger that cannot be evaluated does not fire its tags.
        return undefined;
      }
    });
    triggers.forEach((trigger, index) => {
      if (matched[index] !== true) return;
      const times = (fired.get(trigger) ?? 0) + 1;
      fired.set(trigger, times);
      if (times > (trigger.limit ?? Infinity)) matched[index] = false;
    });
    for (const tag of tags) {
      if (!tag.on.some((index) => matched[index]) || tag.not?.some((index) => matched[index] !== false)) continue;
      if (isGranted(tag)) fire(tag, now);
      else waiting.set(tag, now);
    }
  };

  const isGranted = ({ needs = [] }: ContainerTag): boolean =>
    needs.every(([purpose, gpc, asks]) => {
      const refuses = navigator.globalPrivacyControl === true;
      if (refuses && gpc === 'always') return false;
      if (own(handover.decided(), purpose) !== undefined) return own(handover.decided(), purpose) === true;
      return !asks && !(refuses && gpc === 'deny') && own(handover.defaults(), purpose) === true;
    });
  const fire = (tag: ContainerTag, now: Happening): void => {
    if (tag.once && done.has(tag)) return;
    done.add(tag);
    try {
      runTag(tag, now);
    } catch (error) {
      warn(tag.name, error);
    }
  };
  const runTag = ({ name, type, content, integrity, properties = [] }: ContainerTag, now: Happening): void => {
    switch (type) {
      case 'TrackEvent':
        handover.track(
          content,
          Object.fromEntries(properties.map(([field, value]) => [field, fill(value, now, String)])),
        );
        break;
      case 'ImagePixel':
        new page.Image().src = String(fill(content, now, encodeURIComponent));
        break;
      default: {
        const script = document.createElement('script');
        if (handover.nonce) script.nonce = handover.nonce;
        if (type === 'ScriptSource') {
          if (integrity) [script.integrity, script.crossOrigin] = [integrity, 'anonymous'];
          script.async = true;
          script.src = content;
          document.head.append(script);
          break;
        }
        handover.ran = 0;
        script.textContent = `sluice.tags.ran=1;${content}`;
        document.head.append(script);
        script.remove();
        if (!handover.ran) warn(name, 'blocked by the Content-Security-Policy of the page, or no JavaScript');
      }
    }
  };

  handover.onConsent = () => {
    for (const [tag, now] of waiting) {
      if (!isGranted(tag)) continue;
      waiting.delete(tag);
      fire(tag, now);
    }
  };
  listen(triggers, happen, (pushed) => {
    Object.assign(layer, pushed);
  });
}

function listen(
  triggers: readonly ContainerTrigger[],
  happen: (now: Happening) => void,
  keep: (pushed: Fields) => void,
): void {
  const heard = (name: string, properties: Fields): void => happen({ type: 'CustomEvent', name, properties });
  const pushed = (item: unknown): void => {
    if (typeof item !== 'object' || item === null) return;
    const { event } = item as Fields;
    keep(item as Fields);
    if (typeof event === 'string') heard(event, item as Fields);
  };
  const dataLayer = (page.dataLayer ??= []);
  const push = dataLayer.push.bind(dataLayer);
  const early = dataLayer.slice();
  dataLayer.push = (...items) => {
    const length = push(...items);
    items.forEach(pushed);
    return length;
  };
  // As in other tag managers, pushes from before the script was loaded count too. Their tags may push further items.
  early.forEach(pushed);
  happen({ type: 'PageView' });
  for (const [name, properties] of handover.events) heard(name, properties);
  handover.onEvent = heard;
  const ready = (): void => happen({ type: 'DomReady' });
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', ready);
  else ready();
  const loaded = (): void => happen({ type: 'WindowLoaded' });
  if (document.readyState === 'complete') loaded();
  else page.addEventListener('load', loaded);
  document.addEventListener('click', ({ target }) => happen({ type: 'Click', target }), true);
  document.addEventListener('submit', ({ target }) => happen({ type: 'FormSubmission', target }), true);
  const pushState = history.pushState.bind(history);
  const moved = (): void => happen({ type: 'HistoryChange' });
  history.pushState = (...given) => {
    pushState(...given);
    moved();
  };
  page.addEventListener('popstate', moved);
  for (const trigger of triggers) {
    const { type, everyMs = 0, limit = Infinity, percent = 0 } = trigger;
    if (type === 'Timer') {
      let times = 0;
      const timer = setInterval(() => {
        happen({ type, trigger });
        times += 1;
        if (times >= limit) clearInterval(timer);
      }, everyMs);
    }
    if (type === 'ScrollDepth') {
      let isReached = false;
      const look = (): void => {
        const { scrollHeight } = document.documentElement;
        if (isReached || page.scrollY + page.innerHeight < (scrollHeight * percent) / 100) return;
        isReached = true;
        happen({ type, trigger });
      };
      page.addEventListener('scroll', look, true);
      look();
    }
  }
}

const start = async (): Promise<void> => {
  try {
    const answer = await fetch(handover.address);
    if (answer.ok) run((await answer.json()) as Container);
    else warn('container', answer.status);
  } catch (error) {
    warn('container', error);
  }
};
void start();
