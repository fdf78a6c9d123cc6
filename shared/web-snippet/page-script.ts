// Large: one script, which imports nothing.
/*
 * The source of `/sluice.js`: the tracking script of a page. The build minifies it on its own, so it imports types
 * only and declares the browser APIs that it uses. Loaded as
 *
 * <script>window.sluice=window.sluice||function(){(sluice.q=sluice.q||[]).push(arguments)}</script>
 * <script async src="https://…/sluice.js?v=…" data-key="src_live_…"></script>
 *
 * it provides sluice('track', name, properties), sluice('page', properties), sluice('identify', externalId,
 * properties, {userHash}), sluice('consent', {purpose: true}) and sluice('reset'); calls made before it loads are
 * queued and replayed.
 */

import type { Handover } from './tag-script.ts';

type Fields = Record<string, unknown>;
type Command = readonly [name: string, ...given: unknown[]];
type Element = {
  readonly src: string;
  readonly dataset: Readonly<Record<string, string | undefined>>;
  readonly nonce?: string;
  /** A document does not have this method. */
  closest?(selector: string): Element | null;
};
type Page = {
  sluice?: ((...command: Command) => void) & {
    q?: ArrayLike<unknown>[];
    tags?: Handover;
    /** The key of the script that runs. */
    on?: string | undefined;
  };
  readonly document: {
    readonly currentScript: Element | null;
    readonly referrer: string;
    readonly title: string;
    readonly visibilityState: string;
    /** Whether the page is prerendered for a visit that may never happen. */
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
  /** IAB consent APIs of the page's consent platform: TCF and GPP. */
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
  /** The gateway's time, in ms since the epoch. */
  readonly now: number;
  /** Versions of the source's container of tags, and of the script that runs the container. */
  readonly tags?: { readonly container: string; readonly script: string };
};

const page = globalThis as unknown as Page;
const { document, location, navigator, screen, history } = page;

const heldMax = 500;
/** Maximum number of events that are kept for the tag script until it is loaded. */
const earlyMax = 50;
const batchMax = 20;
const lingerMs = 250;
const triesMax = 6;
/** A browser accepts 64 KiB of beacons per page at a time, and a character may be three bytes. */
const beaconCharactersMax = 20_000;
/**
 * Maximum length of an event's properties as JSON. The gateway refuses events over 64 KiB, so larger properties are
 * left out.
 */
const propertiesCharactersMax = 40_000;
/** Maximum length of an event's name, of a text that describes the page, and of an id. */
const nameCharactersMax = 1_000;
const textCharactersMax = 2_000;
const idCharactersMax = 400;
/** A larger error of the browser's clock is corrected. */
const clockErrorMsMax = 120_000;
const yearS = 31_536_000;
const idCookie = 'sluice_visitor_id';
const consentCookie = 'sluice_consent';
/** Marks of the grants that the gateway has received, newest first. */
const toldCookie = 'sluice_told';
const toldMax = 50;
/** Names of ad platforms' address parameters, and below of their cookies, from shared/contracts/events/click-ids.ts. */
const clickParameters =
  /^([a-z]*clid|msclkid|[gw]braid|li_fat_id|sccid|epik|rdt_cid|oppref|rtid|tblci|dicbo|irclickid|im_ref|aleid|admitad_uid|clickref|_?ef_transaction_id|postback_?id|(bw_)?auction_id|rokt_tracking_id|ttd_click_id|(impact|outbrain|taboola)_cid)$/i;
/** Cookies of consent platforms, by `data-signals` word; events carry them under that word. */
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
  // A second copy would count everything twice.
  if ((page.sluice?.on ?? '') === token) return;
  /** Undefined until the gateway has returned the purposes that require consent. */
  let purposes: readonly Purpose[] | undefined;
  /** The visitor's decisions on this or an earlier page. */
  let decided = readDecisions();
  const decidedBefore = decided;
  let stored = readCookie(consentCookie);
  /** The decisions, which another tab may have changed. One that the browser does not store holds for this page. */
  const decisions = (): Record<string, boolean> => {
    const now = readCookie(consentCookie);
    if (now !== stored) decided = { ...decided, ...readDecisions() };
    stored = now;
    return decided;
  };
  /** The visitor and external ids that were last sent with the decisions; undefined if they changed since. */
  let decidedFor: unknown;
  /** Marks of the grants in the batch that is being sent, unless decisions were made since. */
  let telling: readonly string[] = [];
  /** `distinctId` of the last row that was added for a decision: it carries the decisions at their own time. */
  let decision: unknown;
  let externalId: string | undefined;
  let userHash: string | undefined;
  /** The visitor id if it is not stored, because the visitor has not agreed or the browser blocks cookies. */
  let unstoredId: string | undefined;
  let viewed: string | undefined;
  /** Rows that wait for consent, or briefly for more rows, oldest first. */
  let rows: Fields[] = [];
  let sending: Fields[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let tries = 0;
  /** Correction of the browser's clock. */
  let clockMs = 0;
  const early: (readonly [name: string, properties: Fields])[] = [];

  const signals = createSignals(script.dataset['signals'] ?? '');

  /**
   * Decisions on known purposes. A default is not one: it would take precedence over the visitor's other signals. Grants
   * that arrived for the ids are left out: repeated, they would undo a withdrawal made elsewhere since then.
   */
  const consent = (ids = ''): Record<string, boolean> => {
    const by = decisions();
    const told = readTold();
    const stated = (purposes ?? []).filter(({ name }) => !by[name] || !told.includes(markOf(name, ids)));
    return onlyDecisions(Object.fromEntries(stated.map(({ name }) => [name, by[name]])));
  };
  const isEmpty = (fields: object): boolean => Object.keys(fields).length === 0;
  const isAgreed = (by = decisions()): boolean =>
    purposes !== undefined && (purposes.length === 0 || purposes.some(({ name, granted }) => by[name] ?? granted));
  /** `distinctId` of the row that withdraws all consent: this row and those before it may still be sent. */
  let withdrawal: unknown;
  /** Number of waiting rows that may be sent. */
  const sendable = (): number =>
    isAgreed() ? rows.length : rows.findIndex(({ distinctId }) => distinctId === withdrawal) + 1;

  /** Reads or creates the visitor id, and stores it if the visitor may be tracked. */
  const visitorId = (): string => {
    const id = [readCookie(idCookie), unstoredId].find(isId) ?? newId();
    if (isAgreed()) writeCookie(idCookie, id);
    unstoredId = readCookie(idCookie) === id ? undefined : id;
    return id;
  };
  const forgetDevice = (): void => {
    unstoredId = undefined;
    telling = [];
    writeCookie(idCookie, '');
    writeCookie(toldCookie, '');
  };

  const add = (event: string, given: unknown, userProperties?: Fields): void => {
    const eventProperties = plain(given);
    put(event, eventProperties, userProperties);
    hear(event, eventProperties);
  };

  const put = (event: string, eventProperties: Fields, userProperties?: Fields): void => {
    rows.push({
      event: event.slice(0, nameCharactersMax),
      distinctId: newId(),
      time: Date.now() + clockMs,
      eventProperties,
      defaultProperties: surroundings(),
      // JSON leaves out what is undefined.
      externalId,
      userHash,
      userProperties,
    });
    if (rows.length > heldMax) {
      rows.shift();
      // The row may have carried the decisions.
      decidedFor = undefined;
    }
    sendSoon(lingerMs);
  };

  /** Passes an event to the tag script, or keeps it until that script is loaded. */
  const hear = (event: string, properties: Fields): void => {
    const onEvent = page.sluice?.tags?.onEvent;
    if (onEvent) onEvent(event, properties);
    else if (early.push([event, properties]) > earlyMax) early.shift();
  };

  const loadTags = ({ container, script: version }: NonNullable<Settings['tags']>): void => {
    const { nonce } = script;
    const { sluice } = page;
    if (!sluice) return;
    sluice.tags = {
      address: `${base}/sluice/container/${token}?v=${container}`,
      nonce,
      events: early,
      decided: decisions,
      defaults: () => Object.fromEntries((purposes ?? []).map(({ name, granted }) => [name, granted])),
      // Events sent by a tag fire no other tag, to prevent loops.
      track: (event, properties) => put(event, plain(properties)),
    };
    const element = document.createElement('script');
    if (nonce) element.nonce = nonce;
    const address = `${base}/sluice-tags.js?v=${version}`;
    // A page that enforces Trusted Types rejects plain text as a script address.
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

  const bodyOf = (events: readonly Fields[]): string => JSON.stringify({ token, events });

  /** Takes the next rows to send, and adds the visitor id, signals and consent, which are known by now. */
  const take = (): Fields[] => {
    // The consent platform may have answered after the event. A row that is sent again keeps its visitor.
    const taken = rows.splice(0, Math.min(batchMax, sendable())).map(({ defaultProperties, ...row }) => ({
      ...row,
      defaultProperties: { ...(defaultProperties as Fields), ...signals() },
      userId: row['userId'] ?? visitorId(),
    })) as Fields[];
    for (const row of taken) {
      const ids = idsOf(row);
      const stated = consent(ids);
      if (isEmpty(stated) || (ids === decidedFor && row['distinctId'] !== decision)) continue;
      const properties = row['userProperties'] as Fields | undefined;
      row['userProperties'] = { ...properties, consent: { ...(properties?.['consent'] as Fields), ...stated } };
      decidedFor = ids;
    }
    // A request or beacon of this size continues after the page has closed.
    while (taken.length > 1 && bodyOf(taken).length >= beaconCharactersMax) {
      rows.unshift(...taken.splice(Math.ceil(taken.length / 2)));
    }
    return taken;
  };

  /** The id stays stored until a withdrawal has arrived: with the id, the next page can send the withdrawal again. */
  const forgetIfWithdrawn = (sent: readonly Fields[]): void => {
    if (!isAgreed() && sent.some(({ distinctId }) => distinctId === withdrawal)) forgetDevice();
  };

  const send = async (): Promise<void> => {
    if (sending.length > 0 || sendable() === 0) return;
    sending = take();
    telling = sending.flatMap((row) => {
      const stated = Object.entries((row['userProperties'] as { consent?: Fields } | undefined)?.consent ?? {});
      return stated.filter(([, isGranted]) => isGranted).map(([name]) => markOf(name, idsOf(row)));
    });
    const answer = await post(`${base}/api/v1/batch`, bodyOf(sending));
    const again = !answer || answer.status === 429 || answer.status >= 500;
    if (again && tries < triesMax) {
      tries += 1;
      rows = [...sending, ...rows];
      sending = [];
      const waitS = Number(answer?.headers.get('retry-after')) || Math.random() * 2 ** tries;
      // A row that was added in the meantime does not shorten the wait.
      clearTimeout(timer);
      timer = undefined;
      return sendSoon(waitS * 1_000);
    }
    // Rows that are permanently refused or out of retries are dropped, so that they do not block later ones.
    if (answer?.ok) {
      if (isAgreed()) writeCookie(toldCookie, [...new Set([...telling, ...readTold()])].slice(0, toldMax).join('.'));
      forgetIfWithdrawn(sending);
    } else decidedFor = undefined;
    tries = 0;
    sending = [];
    if (rows.length > 0) sendSoon(0);
  };

  /** Sends the remaining rows as beacons, since the page may close. Events have ids, so rows sent twice count once. */
  const sendLast = (): void => {
    const refused: Fields[] = [];
    while (sendable() > 0) {
      const taken = take();
      // A row too large for a beacon does not block the others.
      if (beacon(`${base}/api/v1/batch`, bodyOf(taken))) forgetIfWithdrawn(taken);
      else refused.push(...taken);
    }
    rows.unshift(...refused);
  };

  // An anchor does not make another page, unless it is the route of an application.
  const addressOfPage = (): string => location.href.replace(/#(?!!?\/).*$/, '');
  const viewPage = (): void => {
    const address = addressOfPage();
    if (viewed === address) return;
    viewed = address;
    add('Page Viewed', {});
  };

  const commands: Readonly<Record<string, (...given: unknown[]) => void>> = {
    track: (name, properties) => add(String(name), properties),
    page: (properties) => add('Page Viewed', properties),
    identify: (given, properties, options) => {
      const id = typeof given === 'number' || typeof given === 'bigint' ? `${given}` : given;
      const { userHash: hash } = plain(options);
      if (isId(id)) {
        externalId = id;
        userHash = typeof hash === 'string' ? hash : undefined;
      } else if (id !== undefined && id !== null) warn('the id of identify', id);
      add('$identify', {}, plain(properties));
    },
    consent: (choices) => {
      const before = isAgreed();
      const made = onlyDecisions(plain(choices));
      if (isEmpty(made)) warn('the choices of consent', choices);
      decided = { ...decisions(), ...made };
      writeCookie(consentCookie, JSON.stringify(decided));
      stored = readCookie(consentCookie);
      decidedFor = undefined;
      telling = [];
      const isKept = (mark: string): boolean => !Object.keys(made).some((name) => mark.startsWith(markOf(name, '')));
      writeCookie(toldCookie, readTold().filter(isKept).join('.'));
      page.sluice?.tags?.onConsent?.();
      // The first waiting row carries the decision too, because all waiting rows were consented to before, or are now.
      add('$identify', {}, {});
      decision = rows.at(-1)?.['distinctId'];
      if (isAgreed()) withdrawal = undefined;
      else if (before) withdrawal = decision;
    },
    reset: () => {
      // Waiting events belong to the person who leaves.
      for (const row of rows) row['userId'] ??= visitorId();
      externalId = userHash = undefined;
      forgetDevice();
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
  page.sluice.on = token;
  if (script.dataset['pages'] !== 'off') {
    viewPage();
    const { pushState, replaceState } = history;
    history.pushState = (...given) => {
      pushState.apply(history, given);
      viewPage();
    };
    // Replacing the address, or an anchor on the page, is not a page view.
    history.replaceState = (...given) => {
      replaceState.apply(history, given);
      viewed = addressOfPage();
    };
    page.addEventListener('popstate', viewPage);
    page.addEventListener('pageshow', ({ persisted }) => {
      if (!persisted) return;
      // A page that returns from the back/forward cache is viewed again.
      viewed = undefined;
      viewPage();
    });
  }
  for (const command of waiting) run(command);
  document.addEventListener(
    'click',
    ({ target }) => {
      const marked = target.closest?.('[data-sluice]');
      if (marked) add(marked.dataset['sluice'] ?? '', propertiesOf(marked.dataset));
    },
    true,
  );
  page.addEventListener('pagehide', sendLast);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') sendLast();
  });

  /** Sends a withdrawal from before the settings arrived, or from an earlier page that could not send it. */
  const withdrawLate = (): void => {
    if (isAgreed() || isEmpty(consent()) || !(isAgreed(decidedBefore) || readCookie(idCookie))) return;
    if (decision === undefined) put('$identify', {}, {});
    withdrawal = decision ?? rows.at(-1)?.['distinctId'];
    // Other rows may be later than the withdrawal, so they wait.
    const order = ({ distinctId }: Fields): number => (distinctId === withdrawal ? 0 : 1);
    rows.sort((a, b) => order(a) - order(b));
  };

  const askSettings = async (): Promise<void> => {
    const answer = await ask(`${base}/sluice/settings/${token}`);
    const settings = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
    if (settings === undefined) {
      tries += 1;
      if (tries < triesMax) setTimeout(() => void askSettings(), 1_000 * 2 ** tries);
      return;
    }
    tries = 0;
    const { consent: asked, now, tags } = settings as Settings;
    purposes = asked.map(({ name, granted }) => ({ name: keyOf(name), granted }));
    const wrongMs = now - Date.now();
    if (Math.abs(wrongMs) > clockErrorMsMax) {
      clockMs = wrongMs;
      for (const row of rows) row['time'] = (row['time'] as number) + wrongMs;
    }
    withdrawLate();
    sendSoon(0);
    try {
      if (tags) loadTags(tags);
    } catch (error) {
      warn('tags', error);
    }
  };
  void askSettings();
}

/** Attributes `data-sluice-…` of a marked element, which become its event's properties. */
function propertiesOf(dataset: Readonly<Record<string, string | undefined>>): Fields {
  const marks = Object.entries(dataset).filter(([name]) => name.startsWith('sluice') && name !== 'sluice');
  return Object.fromEntries(marks.map(([name, value]) => [name.charAt(6).toLowerCase() + name.slice(7), value]));
}

/**
 * A call's properties as plain data. A property that cannot be JSON, or is too large, is left out with a warning. The
 * result can always be serialized.
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

/** Names of purposes are compared like this everywhere. */
const keyOf = (name: string): string => name.trim().toLowerCase();

const decisionWords: Fields = { granted: true, denied: false };

/** The decisions by purpose, as booleans or words; of several on one purpose, a denial counts. */
function onlyDecisions(fields: Fields): Record<string, boolean> {
  const decisions: Record<string, boolean> = {};
  for (const [name, value] of Object.entries(fields)) {
    const key = keyOf(name);
    const isAllowed = typeof value === 'string' ? decisionWords[value.toLowerCase()] : value;
    if (typeof isAllowed === 'boolean') decisions[key] = isAllowed && decisions[key] !== false;
  }
  return decisions;
}

/** The visitor's earlier decisions; none if the cookie is malformed. */
function readDecisions(): Record<string, boolean> {
  try {
    return onlyDecisions(plain(JSON.parse(readCookie(consentCookie) ?? '{}')));
  } catch {
    return {};
  }
}

const readTold = (): readonly string[] => readCookie(toldCookie)?.split('.') ?? [];

const idsOf = (row: Fields): string => [row['userId'], row['externalId']].join(' ');

/** A grant's mark: short hashes of the purpose's name and of the person's ids, from which no id can be read. */
const markOf = (name: string, ids: string): string => `${hashOf(name)}_${ids && hashOf(ids)}`;

function hashOf(text: string): string {
  let sum = 0;
  for (const letter of text) sum = (sum * 31 + letter.charCodeAt(0)) | 0;
  return sum.toString(36);
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
  for (const name of platformCookies) fields[name] = readCookie(name);
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') fields[name] = value.slice(0, textCharactersMax);
  }
  return plain(fields);
}

/** Returns a function that reads the signals named in `data-signals`; an API is subscribed to once it exists. */
function createSignals(words: string): () => Fields {
  const wanted = words.split(/[\s,]+/);
  const said: Fields = {};
  const isAsked = { tcf: !wanted.includes('tcf'), gpp: !wanted.includes('gpp') };
  const listen = (): void => {
    if (!isAsked.tcf && page.__tcfapi) {
      isAsked.tcf = true;
      page.__tcfapi('addEventListener', 2, (data, isDone) => {
        if (isDone && data) Object.assign(said, plain({ tcf: data.tcString, gdpr_applies: data.gdprApplies }));
      });
    }
    if (!isAsked.gpp && page.__gpp) {
      isAsked.gpp = true;
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

/** The response; undefined if there is none, or if some rows of a batch were not stored and have to be sent again. */
async function ask(url: string, init?: RequestInit): Promise<Response | undefined> {
  try {
    const answer = await fetch(url, init);
    // All rows are sent again: they have ids, so those that were stored count once.
    return answer.status === 207 && (await answer.text()).includes('queue_failed') ? undefined : answer;
  } catch {
    return undefined;
  }
}

const post = (url: string, body: string): Promise<Response | undefined> =>
  // A plain-text body needs no CORS preflight, and keepalive lets the request finish after the page closes.
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
    return found && decodeURIComponent(found);
  } catch {
    // A malformed escape, or a frame without cookies.
    return undefined;
  }
}

/** Stores a cookie for a year; removes it if the value is empty. */
function writeCookie(name: string, value: string): void {
  const ageS = value ? yearS : 0;
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  try {
    document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${ageS}; SameSite=Lax${secure}`;
  } catch {
    // A frame without cookies.
  }
}

/** A random UUID; `crypto.randomUUID` exists on secure pages only. */
const newId = (): string =>
  '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) =>
    (Number(digit) ^ ((crypto.getRandomValues(Uint8Array.of(0))[0] ?? 0) & (15 >> (Number(digit) / 4)))).toString(16),
  );

const { currentScript } = document;
if (currentScript) {
  const begin = (): void => start(currentScript);
  // Calls stay queued until a prerendered page is visited.
  if (document.prerendering) document.addEventListener('prerenderingchange', begin);
  else begin();
}
