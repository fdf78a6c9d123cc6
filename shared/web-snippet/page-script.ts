// Large: one script, which imports nothing.
/*
 * What `/sluice.js` is: the script of a page that tracks. It is minified on its own by the build, so it imports types alone, and
 * what it uses of a browser is declared here. Loaded as
 *
 *   <script>window.sluice=window.sluice||function(){(sluice.q=sluice.q||[]).push(arguments)}</script>
 *   <script async src="https://…/sluice.js?v=…" data-key="src_live_…"></script>
 *
 * it offers sluice('track', name, properties), sluice('page', properties), sluice('identify', externalId, properties, {userHash}),
 * sluice('consent', {purpose: true}) and sluice('reset'); calls made before it was loaded are made up for.
 */

import type { Handover } from './tag-script.ts';

type Fields = Record<string, unknown>;
type Command = readonly [name: string, ...given: unknown[]];
type Element = {
  readonly src: string;
  readonly dataset: Readonly<Record<string, string | undefined>>;
  readonly nonce?: string;
  /** Not of a document. */
  closest?(selector: string): Element | null;
};
type Page = {
  sluice?: ((...command: Command) => void) & { q?: ArrayLike<unknown>[]; tags?: Handover };
  readonly document: {
    readonly currentScript: Element | null;
    readonly referrer: string;
    readonly title: string;
    readonly visibilityState: string;
    /** Whether the page was loaded ahead of a visit that may never come. */
    readonly prerendering?: boolean;
    cookie: string;
    readonly head: { append(element: object): void };
    createElement(name: 'script'): { src: string; nonce: string };
    addEventListener(type: string, listen: (event: { readonly target: Element }) => void, capture?: boolean): void;
  };
  readonly location: {
    readonly href: string;
    readonly host: string;
    readonly pathname: string;
    readonly protocol: string;
  };
  readonly navigator: { readonly language: string; sendBeacon(url: string, body: string): boolean };
  readonly screen: { readonly width: number; readonly height: number };
  readonly trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createScriptURL(url: string): string },
    ): { createScriptURL(url: string): string };
  };
  readonly history: { pushState(...given: unknown[]): void; replaceState(...given: unknown[]): void };
  /** Of the page's consent platform, as the IAB has it. */
  __tcfapi?(command: 'addEventListener', version: 2, listen: (data: TcfData | null, isDone: boolean) => void): void;
  __gpp?(command: 'addEventListener', listen: (event: { readonly pingData?: GppData } | null) => void): void;
  readonly OptanonActiveGroups?: unknown;
  addEventListener(type: string, listen: (event: { readonly persisted?: boolean }) => void): void;
};
type TcfData = { readonly tcString?: string; readonly gdprApplies?: boolean };
type GppData = {
  readonly signalStatus?: string;
  readonly gppString?: string;
  readonly applicableSections?: readonly number[];
};
type Purpose = { readonly name: string; readonly granted: boolean };
type Settings = {
  readonly consent: readonly Purpose[];
  /** Versions of the source's container of tags and of the script that runs it. */
  readonly tags?: { readonly container: string; readonly script: string };
};

const page = globalThis as unknown as Page;
const { document, location, navigator, screen, history } = page;

const heldMax = 500;
/** Events that the script of tags hears of though they came before it. */
const earlyMax = 50;
const batchMax = 20;
const lingerMs = 250;
const triesMax = 6;
/** A browser takes 64 KiB of beacons of a page at a time, and a character may be three bytes. */
const beaconCharactersMax = 20_000;
/** Length of an event's properties as JSON. The gateway refuses events over 64 KiB, so larger properties are left out. */
const propertiesCharactersMax = 40_000;
/** Length of a text that describes the page, and of an id. */
const textCharactersMax = 2_000;
const idCharactersMax = 400;
const yearS = 31_536_000;
const idCookie = 'sluice_visitor_id';
/** What ad platforms add to addresses, and the cookies of theirs that a page has: names as in shared/contracts/events/click-ids.ts. */
const clickParameters =
  /^([a-z]*clid|msclkid|[gw]braid|li_fat_id|sccid|epik|rdt_cid|oppref|rtid|tblci|dicbo|irclickid|im_ref|aleid|admitad_uid|clickref|_?ef_transaction_id|postback_?id|(bw_)?auction_id|rokt_tracking_id|ttd_click_id|(impact|outbrain|taboola)_cid)$/i;
/** Cookies of consent platforms, by the word of `data-signals`, under which their events carry them. */
const consentCookies = {
  optanon: 'OptanonConsent',
  cookieconsent: 'CookieConsent',
  didomi: 'didomi_token',
  us_privacy: 'usprivacy',
} as const;
const platformCookies = '_fbc _fbp _ttp _epik _scid _uetvid _uetmsclkid _rdt_uuid _qclid _ndclid'.split(' ');

// Large: one closure, sent to browsers as it stands.
function start(script: Element): void {
  const base = script.src.replace(/\/sluice\.js.*$/, '');
  const token = script.dataset['key'];
  /** Undefined until the gateway has said for what purposes visitors are asked. */
  let purposes: readonly Purpose[] | undefined;
  /** What the visitor decided on this page or an earlier one. */
  let decided = readDecisions();
  let consentToSend = true;
  let externalId: string | undefined;
  let userHash: string | undefined;
  let viewed: string | undefined;
  /** Rows of a batch, oldest first; they wait for consent, or for a moment. */
  let rows: Fields[] = [];
  let sending: Fields[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let tries = 0;
  const early: (readonly [name: string, properties: Fields])[] = [];

  const signals = createSignals(script.dataset['signals'] ?? '');

  const consent = (): Record<string, boolean> =>
    Object.fromEntries((purposes ?? []).map(({ name, granted }) => [name, decided[name] ?? granted]));
  const isAgreed = (): boolean =>
    purposes !== undefined && (purposes.length === 0 || Object.values(consent()).some((granted) => granted));
  /** Set while it is still to be said that the visitor no longer agrees to anything. */
  let withdrawing = false;
  const maySend = (): boolean => withdrawing || isAgreed();

  /** The visitor's id. None is kept before the visitor may be tracked. */
  const visitorId = (): string => {
    const kept = readCookie(idCookie);
    const id = isId(kept) ? kept : newId();
    writeCookie(idCookie, id, yearS);
    return id;
  };

  const add = (event: string, given: unknown, userProperties?: unknown): void => {
    const eventProperties = plain(given);
    put(event, eventProperties, userProperties);
    hear(event, eventProperties);
  };

  const put = (event: string, eventProperties: Fields, userProperties?: unknown): void => {
    rows.push({
      event,
      distinctId: newId(),
      time: Date.now(),
      eventProperties,
      defaultProperties: surroundings(),
      ...(externalId === undefined ? {} : { externalId, userHash }),
      ...(userProperties === undefined ? {} : { userProperties: plain(userProperties) }),
    });
    if (rows.length > heldMax) rows.shift();
    sendSoon(lingerMs);
  };

  /** The script of tags hears of events, also of those that came before it was there. */
  const hear = (event: string, properties: Fields): void => {
    const onEvent = page.sluice?.tags?.onEvent;
    if (onEvent) onEvent(event, properties);
    else if (early.push([event, properties]) > earlyMax) early.shift();
  };

  const loadTags = ({ container, script: version }: NonNullable<Settings['tags']>): void => {
    const { nonce } = script;
    const { sluice } = page;
    if (sluice === undefined) return;
    sluice.tags = {
      address: `${base}/sluice/container/${token}?v=${container}`,
      nonce,
      events: early,
      decided: () => decided,
      defaults: () => Object.fromEntries((purposes ?? []).map(({ name, granted }) => [name, granted])),
      // What a tag sends fires no other tag, so that none goes round in circles.
      track: put,
    };
    const element = document.createElement('script');
    if (nonce) element.nonce = nonce;
    const address = `${base}/sluice-tags.js?v=${version}`;
    // A page that enforces Trusted Types takes no plain text as the address of a script.
    const types = page.trustedTypes?.createPolicy('sluice', { createScriptURL: (url) => url });
    element.src = types?.createScriptURL(address) ?? address;
    document.head.append(element);
  };

  const sendSoon = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void send();
    }, ms);
  };

  /** The next rows as they are sent: who they are of is known by now. */
  const take = (): Fields[] => {
    const userId = visitorId();
    // What a consent platform says may have come after the event.
    const taken = rows.splice(0, batchMax).map(({ defaultProperties, ...row }) => ({
      ...row,
      defaultProperties: { ...(defaultProperties as Fields), ...signals() },
      userId,
    })) as Fields[];
    const [first] = taken;
    if (first !== undefined && consentToSend && (purposes ?? []).length > 0) {
      first['userProperties'] = { ...(first['userProperties'] as Fields | undefined), consent: consent() };
      consentToSend = false;
    }
    if (withdrawing && rows.length === 0) {
      withdrawing = false;
      writeCookie(idCookie, '', 0);
    }
    return taken;
  };

  const bodyOf = (events: readonly Fields[]): string => JSON.stringify({ token, events });

  const send = async (): Promise<void> => {
    if (!maySend() || sending.length > 0 || rows.length === 0) return;
    sending = take();
    const answer = await post(`${base}/api/v1/batch`, bodyOf(sending));
    const again = answer === undefined || answer.status === 429 || answer.status >= 500;
    if (again && tries < triesMax) {
      tries += 1;
      rows = [...sending, ...rows];
      sending = [];
      const waitS = Number(answer?.headers.get('retry-after')) || Math.random() * 2 ** tries;
      return sendSoon(waitS * 1_000);
    }
    // What is refused for good, and what was tried often enough, holds up nothing behind it.
    tries = 0;
    sending = [];
    if (rows.length > 0) sendSoon(0);
  };

  /** The page goes: what is left goes as beacons. Events have their ids, so what is sent twice counts once. */
  const sendLast = (): void => {
    const refused: Fields[] = [];
    while (maySend() && rows.length > 0) {
      const taken = take();
      for (let body = bodyOf(taken); body.length > beaconCharactersMax && taken.length > 1; body = bodyOf(taken)) {
        rows.unshift(...taken.splice(Math.ceil(taken.length / 2)));
      }
      // One that is too large for a beacon does not hold up the others.
      if (!beacon(`${base}/api/v1/batch`, bodyOf(taken))) refused.push(...taken);
    }
    rows.unshift(...refused);
  };

  // An anchor leads within the page, unless it is the route of an application.
  const addressOfPage = (): string => location.href.replace(/#(?!!?\/).*$/, '');
  const viewPage = (): void => {
    const address = addressOfPage();
    if (viewed === address) return;
    viewed = address;
    add('Page Viewed', {});
  };

  const commands: Readonly<Record<string, (...given: unknown[]) => void>> = {
    track: (name, properties) => add(String(name).slice(0, textCharactersMax), properties),
    page: (properties) => add('Page Viewed', properties),
    identify: (given, properties, options) => {
      const id = typeof given === 'number' || typeof given === 'bigint' ? `${given}` : given;
      const { userHash: hash } = plain(options);
      if (isId(id)) {
        externalId = id;
        userHash = typeof hash === 'string' ? hash : undefined;
      } else if (id !== undefined && id !== null) warn('the id of identify', id);
      add('$identify', {}, properties ?? {});
    },
    consent: (choices) => {
      const before = isAgreed();
      decided = { ...decided, ...onlyDecisions(plain(choices)) };
      writeCookie('sluice_consent', JSON.stringify(decided), yearS);
      withdrawing = before && !isAgreed();
      consentToSend = true;
      page.sluice?.tags?.onConsent?.();
      // It stands in the first of what is sent: whatever waits was agreed to before, or is now.
      add('$identify', {}, {});
    },
    reset: () => {
      externalId = userHash = undefined;
      writeCookie(idCookie, '', 0);
    },
  };
  /** A call that throws affects neither the page nor later calls. */
  const run = (command: ArrayLike<unknown>): void => {
    try {
      const [name, ...given] = Array.from(command) as unknown as Command;
      commands[name]?.(...given);
    } catch (error) {
      warn('a call', error);
    }
  };

  const waiting = page.sluice?.q ?? [];
  page.sluice = (...command) => run(command);
  if (script.dataset['pages'] !== 'off') {
    viewPage();
    const { pushState, replaceState } = history;
    history.pushState = (...given) => {
      pushState.apply(history, given);
      viewPage();
    };
    // An address that is only replaced is no other page, nor is an anchor of it.
    history.replaceState = (...given) => {
      replaceState.apply(history, given);
      if (viewed !== undefined) viewed = addressOfPage();
    };
    page.addEventListener('popstate', viewPage);
    page.addEventListener('pageshow', ({ persisted }) => {
      if (persisted !== true) return;
      // The page comes out of the browser's cache: it is seen once more.
      viewed = undefined;
      viewPage();
    });
  }
  for (const command of waiting) run(command);
  document.addEventListener(
    'click',
    ({ target }) => {
      const marked = target.closest?.('[data-sluice]');
      if (marked !== null && marked !== undefined) add(marked.dataset['sluice'] ?? '', propertiesOf(marked.dataset));
    },
    true,
  );
  page.addEventListener('pagehide', sendLast);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') sendLast();
  });

  const askSettings = async (): Promise<void> => {
    const answer = await ask(`${base}/sluice/settings/${token}`);
    const settings = answer?.ok === true ? await answer.json().catch(() => undefined) : undefined;
    if (settings === undefined) {
      tries += 1;
      if (tries < triesMax) setTimeout(() => void askSettings(), 1_000 * 2 ** tries);
      return;
    }
    tries = 0;
    const { consent: asked, tags } = settings as Settings;
    purposes = asked;
    if (tags) loadTags(tags);
    sendSoon(0);
  };
  void askSettings();
}

/** Attributes `data-sluice-…` of a marked element: its event's properties. */
function propertiesOf(dataset: Readonly<Record<string, string | undefined>>): Fields {
  const marks = Object.entries(dataset).filter(([name]) => name.startsWith('sluice') && name !== 'sluice');
  return Object.fromEntries(marks.map(([name, value]) => [name.charAt(6).toLowerCase() + name.slice(7), value]));
}

/**
 * The properties of a page's call as plain data. A property that cannot be JSON, or is too large, is left out with a warning.
 * The result can always be serialized.
 */
function plain(given: unknown): Fields {
  const fields: Fields = {};
  let room = propertiesCharactersMax;
  for (const name of keysOf(given)) {
    try {
      // Undefined for functions, symbols and undefined.
      const text = JSON.stringify((given as Fields)[name], bigintAsText) as string | undefined;
      if (text === undefined) continue;
      if (name.length + text.length > room) throw new Error('too large');
      room -= name.length + text.length;
      fields[name] = JSON.parse(text);
    } catch (error) {
      warn(name, error);
    }
  }
  return fields;
}

function keysOf(given: unknown): readonly string[] {
  try {
    return typeof given === 'object' && given !== null ? Object.keys(given) : [];
  } catch {
    return [];
  }
}

const bigintAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}` : value);

const warn = (what: unknown, error: unknown): void => console.warn('sluice: left out', what, error);

const isId = (id: unknown): id is string => typeof id === 'string' && id !== '' && id.length <= idCharactersMax;

const onlyDecisions = (fields: Fields): Record<string, boolean> =>
  Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'),
  );

/** Earlier decisions of the visitor; none where the cookie is broken. */
function readDecisions(): Record<string, boolean> {
  try {
    return onlyDecisions(plain(JSON.parse(readCookie('sluice_consent') ?? '{}')));
  } catch {
    return {};
  }
}

function surroundings(): Fields {
  const { href, host, pathname } = location;
  const fields: Fields = {
    current_url: href,
    host,
    pathname,
    title: document.title,
    referrer: document.referrer,
    screen_width: screen.width,
    screen_height: screen.height,
    browser_language: navigator.language,
  };
  new URL(href).searchParams.forEach((value, name) => {
    if (name.startsWith('utm_') || clickParameters.test(name)) fields[name] = value;
  });
  for (const name of platformCookies) {
    const value = readCookie(name);
    if (value !== undefined) fields[name] = value;
  }
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') fields[name] = value.slice(0, textCharactersMax);
  }
  return plain(fields);
}

/** Reads what the page's consent platform says, of the signals that `data-signals` names; they are asked for once they are there. */
function createSignals(words: string): () => Fields {
  const wanted = words.split(/[\s,]+/);
  const said: Fields = {};
  let isAsked = { tcf: !wanted.includes('tcf'), gpp: !wanted.includes('gpp') };
  const listen = (): void => {
    if (!isAsked.tcf && page.__tcfapi) {
      isAsked = { ...isAsked, tcf: true };
      page.__tcfapi('addEventListener', 2, (data, isDone) => {
        if (isDone && data) Object.assign(said, plain({ tcf: data.tcString, gdpr_applies: data.gdprApplies }));
      });
    }
    if (!isAsked.gpp && page.__gpp) {
      isAsked = { ...isAsked, gpp: true };
      page.__gpp('addEventListener', (event) => {
        const { signalStatus, gppString, applicableSections = [] } = event?.pingData ?? {};
        if (signalStatus === 'ready') {
          Object.assign(said, plain({ gpp: gppString, gpp_sid: applicableSections.join('_') }));
        }
      });
    }
  };
  const read = (): Fields => {
    try {
      listen();
    } catch (error) {
      warn('a consent platform', error);
    }
    for (const [word, cookie] of Object.entries(consentCookies)) {
      if (!wanted.includes(word)) continue;
      said[word] = readCookie(cookie) ?? (word === 'optanon' ? page.OptanonActiveGroups : undefined);
    }
    return plain(said);
  };
  read();
  return read;
}

/** The answer; undefined where fetch rejects or throws. */
async function ask(url: string, init?: RequestInit): Promise<Response | undefined> {
  try {
    return await fetch(url, init);
  } catch {
    return undefined;
  }
}

const post = (url: string, body: string): Promise<Response | undefined> =>
  // A text is sent without asking for leave first, and goes on when the page does.
  ask(url, { method: 'POST', body, keepalive: body.length < beaconCharactersMax });

function beacon(url: string, body: string): boolean {
  try {
    return navigator.sendBeacon(url, body);
  } catch {
    return false;
  }
}

function readCookie(name: string): string | undefined {
  try {
    const found = new RegExp(`(?:^|; )${name}=([^;]+)`).exec(document.cookie)?.[1];
    return found === undefined ? undefined : decodeURIComponent(found);
  } catch {
    // A broken escape, or a frame without cookies.
    return undefined;
  }
}

function writeCookie(name: string, value: string, ageS: number): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  try {
    document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${ageS}; SameSite=Lax${secure}`;
  } catch {
    // A frame without cookies.
  }
}

/** A random UUID; the browser's own is there on secure pages only. */
const newId = (): string =>
  '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) =>
    (Number(digit) ^ ((crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) & (15 >> (Number(digit) / 4)))).toString(16),
  );

const { currentScript } = document;
if (currentScript !== null) {
  const begin = (): void => start(currentScript);
  // Calls wait in the queue of the page until it is visible.
  if (document.prerendering === true) document.addEventListener('prerenderingchange', begin);
  else begin();
}
