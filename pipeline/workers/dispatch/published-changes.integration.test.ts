import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { DestinationRequest, ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import type { TestCollections } from '../../../shared/testing/test-account-config.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import type { OutcomeNote } from './settlement/outcome-observer.ts';
import { defaultSettings } from './testing/dispatcher-rig.ts';
import type { DispatcherRig, TestEvent } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';
import { quickRetries } from './testing/quick-retries.ts';

let sink: ScriptedDestination;
let rig: DispatcherRig;

eachWithRig((opened) => ({ sink, rig } = opened));

const backlogEvents = 5_000;
const visitors = 250;
/**
 * The dispatcher may make twice as many requests at a time: half of them wait for a connection, and are withdrawn by a
 * change.
 */
const connections = 4;
const names = ['Order', 'View', 'Order', 'Refund'];

type Known = Required<Pick<TestEvent, 'id' | 'visitor' | 'name' | 'source'>> & Pick<TestEvent, 'consent'>;

/** Each tenth visitor refuses advertising; the events of a visitor alternate between names and between sources. */
function eventAt(n: number): Known {
  const visitor = n % visitors;
  const round = Math.floor(n / visitors);
  return {
    id: `e${n}`,
    visitor: `v${visitor}`,
    name: names[(visitor + round) % names.length] ?? '',
    source: round % 2 === 0 ? 'source-1' : 'source-2',
    ...(visitor % 10 === 0 ? { consent: { advertising: false } } : {}),
  };
}

/** The visitors whose requests fail as long as this version is live. */
const failing = (version: number): ReadonlySet<string> => new Set([20, 100, 180].map((n) => `v${n + version}`));

const eventsOf = ({ body }: DestinationRequest): readonly Known[] =>
  ([JSON.parse(body)].flat() as readonly Sent[]).map(({ event }) => eventAt(Number(event.id.slice(1))));

/** What a version is expected to do, written without the product's rules. */
type Version = {
  readonly collections: () => TestCollections;
  readonly path: string;
  readonly batchSize: number;
  /** The properties of the sample event that are sent. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** False for a version without the destination, or with the destination disabled. */
  readonly isSending: boolean;
  /** `send`, `skip`, or the outcome and the reason of a stop. */
  readonly decide: (event: Known) => string;
};

const email = 'ada@example.com';
const sample = { order_id: 'A-1001', value: 42.5, currency: 'EUR' };
const send = (): string => 'send';

/** The versions in the order of publishing. A header names the version, so each request shows which one made it. */
function versionsOf(destinationId: string, url: string): readonly Version[] {
  const plain = { path: '/a', batchSize: 5, properties: sample, isSending: true, decide: send };
  const all: Version[] = [];
  const add = (
    own: Partial<Omit<Version, 'collections'>>,
    more: TestCollections = {},
    entity: Readonly<Record<string, unknown>> | undefined = {},
  ): void => {
    const number = all.length + 1;
    const version = { ...plain, ...own };
    const headers = JSON.stringify({ 'x-version': String(number) });
    const settings = { headers, batchSize: String(version.batchSize) };
    const collections = (): TestCollections => ({
      destinations: [httpEntity(destinationId, `${url}${version.path}`, { settings, ...entity })],
      ...more,
    });
    all.push({ collections, ...version });
  };
  const mapping = (own: Readonly<Record<string, unknown>>): TestCollections => {
    const base = { id: 'm', destinationId, priority: 1, isEnabled: true, logic: null, eventName: null, mappings: [] };
    return { mappings: [{ ...base, ...own }] };
  };
  const is = (value: string) => ({ condition: { property: 'event.event', operator: 'Is', value } });
  add({});
  const hashed = createHash('sha256').update(email).digest('hex');
  const mapped = [{ property: 'who', map: '{{visitor.email}}', modification: 'Hash' }];
  add({ properties: { who: hashed } }, mapping({ action: 'send', mappings: mapped }));
  add(
    { decide: ({ name }) => (name === 'Order' ? 'send' : 'skip') },
    { allowedEvents: [{ id: 'a', name: 'Order', destinationIds: [destinationId] }] },
  );
  const purpose = { id: 'p', name: 'Advertising', description: null, isEnabled: true, defaultState: 'Granted' };
  add(
    { decide: ({ consent }) => (consent === undefined ? 'send' : 'stopped consent: Advertising') },
    { consentSettings: [{ ...purpose, regions: null, destinationIds: [destinationId], signals: null }] },
  );
  const category = { name: 'no refunds', priority: 1, destinationIds: [destinationId], logic: is('Refund') };
  add(
    { decide: ({ name }) => (name === 'Refund' ? 'globalStop no refunds' : 'send') },
    { globalDispatchCenters: [{ id: 'g', isEnabled: true, categories: [category] }] },
  );
  add({ path: '/b', batchSize: 1 });
  add({ decide: ({ source }) => (source === 'source-1' ? 'send' : 'skip') }, {}, { limitedToSourceIds: ['source-1'] });
  add({ properties: { value: 42.5 } }, { externalAllowedEventData: [{ id: 'x', name: '*', properties: ['value'] }] });
  add(
    { decide: ({ name }) => (name === 'View' ? 'stopped mapping m' : 'send') },
    mapping({ action: 'stop', logic: is('View') }),
  );
  all.push({ ...plain, isSending: false, decide: () => 'skip', collections: () => ({ destinations: [] }) });
  add({});
  add({ isSending: false, decide: () => 'skip' }, {}, { status: 'Disabled' });
  add({ path: '/c' });
  return all;
}

/** The version and the erasures that were live when a request arrived, and the status of its answer. */
type Arrived = { readonly live: number; readonly erased: ReadonlySet<string>; status: number };

test('published changes: each request is made by the version that is live, and each outcome names it', async () => {
  const versions = versionsOf(rig.destinationId, sink.url);
  const arrived: Arrived[] = [];
  /** Answers that the destination does not give yet. It gives one per permit, so no change comes after the backlog. */
  const held: (() => void)[] = [];
  let permits = 0;
  const permit = (answers: number): void => {
    const given = held.splice(0, answers);
    for (const answer of given) answer();
    permits = answers - given.length;
  };
  /** For each version, the number of requests of the previous version that may still arrive after it is published. */
  const onTheWire = new Map<number, number>();
  let live = 0;
  let whenNextArrives: (() => void) | undefined;
  let erased: ReadonlySet<string> = new Set();
  sink.answer((request) => {
    // A quarter of the requests fail. Requests with one of three visitors fail until the next version is published, so
    // that at each publication events are waiting for a retry, and later events of their visitors are parked.
    const isFailing = arrived.length % 4 === 3 || eventsOf(request).some(({ visitor }) => failing(live).has(visitor));
    const status = isFailing && live < versions.length ? 503 : 200;
    arrived.push({ live, erased, status });
    whenNextArrives?.();
    if (permits === 0) return new Promise((resolve) => held.push(() => resolve(status)));
    permits -= 1;
    return status;
  });
  const publish = (): void => {
    live = rig.configure(versions[live]?.collections() ?? {});
  };
  let sent = 0;
  const sendMore = async (events: number): Promise<void> => {
    for (const end = sent + events; sent < end; sent += 100) {
      await rig.send(Array.from({ length: 100 }, (_, i) => eventAt(sent + i)));
    }
  };
  publish();
  await sendMore(backlogEvents);
  const sender = { ...defaultSettings.sender, connectionsMax: connections };
  const dispatcher = await rig.start({ retryPolicyOf: quickRetries, concurrency: connections * 2, sender });

  const someWait = (): Promise<void> =>
    until('events to wait for a retry, and later events of their visitors to be parked', () => {
      const { visitors_waiting: waiting = 0, events_parked: parked = 0 } = dispatcher.stats();
      const isReached = waiting > 0 && parked > 0;
      permit(isReached ? 0 : 10);
      return isReached;
    });
  /** Publishes while requests are being made: requests in flight at that moment may be of the previous version. */
  const changeInFlow = async (): Promise<void> => {
    await someWait();
    const before = live;
    whenNextArrives = () => {
      whenNextArrives = undefined;
      onTheWire.set(live + 1, dispatcher.stats()['requests_in_flight'] ?? 0);
      publish();
    };
    permit(connections * 2);
    await until('a request arrives', () => live > before);
  };
  /**
   * Publishes once every request in flight has reached the destination, so that no request of the previous version
   * arrives later.
   */
  const change = async (more: () => Promise<void> = () => Promise.resolve()): Promise<void> => {
    await someWait();
    await until(
      'the requests in flight are at the destination, or wait for a connection',
      () => held.length > 0 && held.length === Math.min(connections, dispatcher.stats()['requests_in_flight'] ?? 0),
    );
    publish();
    await more();
    permit(Infinity);
  };
  const someSent = async (): Promise<void> => {
    const before = arrived.length;
    await until('this version has sent some', () => {
      permit(10);
      return arrived.length > before + 20;
    });
  };
  const erase = async (ids: readonly string[]): Promise<void> => {
    const [first = ''] = ids;
    await rig.erase(ids);
    const head = { visitorId: first, receivedAtMs: 0 };
    await until('the erasure is known', () => rig.erasures.isErased(rig.accountId, head));
    erased = new Set([...erased, ...ids]);
  };

  for (let next = 2; next <= 9; next += 1) {
    await someSent();
    if (next === 6) await change(() => erase(['v3', 'v13']));
    else if (next % 2 === 0) await changeInFlow();
    else await change();
  }
  await someSent();
  // This version removes the destination; the next one publishes it again.
  await change();
  await until('nothing is on the wire', () => dispatcher.stats()['requests_in_flight'] === 0);
  publish();
  await until('the backlog is done', async () => (await rig.unfinished()) === 0);
  const beforeDisabled = sent;
  permit(0);
  await sendMore(500);
  await change();
  await until('the rest is skipped', async () => (await rig.unfinished()) === 0);
  const afterDisabled = sent;
  publish();
  await sendMore(500);
  await until('all of it is done', async () => (await rig.unfinished()) === 0 && (await rig.retries()).size === 0);

  const judge = new Judge(versions);
  judge.judgeRequests(sink.requests, arrived, onTheWire);
  judge.judgeNotes(rig.notes);
  for (let n = 0; n < sent; n += 1) {
    if (n < beforeDisabled || n >= afterDisabled) judge.judgeFate(eventAt(n));
  }
  expect(judge.violations).toEqual([]);
  expect(await rig.deadLetters()).toEqual([]);
  expect(dispatcher.stats()).toMatchObject({ events_held: 0, visitors_waiting: 0, events_parked: 0, missed_events: 0 });
});

type Sent = { readonly event: { readonly id: string; readonly event_properties: object } };

/** Compares requests and reported outcomes with what the versions describe. */
class Judge {
  /** Requests and outcomes that no version describes. */
  readonly violations: string[] = [];
  readonly #versions: readonly Version[];
  /** The statuses of all requests with an event, by event and version. */
  readonly #statuses = new Map<string, Map<number, number[]>>();
  /** The last outcome of each event. */
  readonly #last = new Map<string, OutcomeNote>();

  constructor(versions: readonly Version[]) {
    this.#versions = versions;
  }

  judgeRequests(
    requests: readonly DestinationRequest[],
    arrived: readonly Arrived[],
    onTheWire: ReadonlyMap<number, number>,
  ): void {
    const late = new Map<number, number>();
    const made = new Set<number>();
    for (const [index, request] of requests.entries()) {
      const number = Number(request.headers['x-version']);
      const { live = 0 } = arrived[index] ?? {};
      made.add(number);
      this.#judgeRequest(request, number, arrived[index]);
      this.#must(number === live || number === live - 1, `a request of version ${number} while ${live} was live`);
      if (number !== live) late.set(live, (late.get(live) ?? 0) + 1);
    }
    for (const [live, count] of late) {
      this.#must(count <= (onTheWire.get(live) ?? 0), `${count} requests of version ${live - 1} after ${live}`);
    }
    for (const [index, { isSending }] of this.#versions.entries()) {
      this.#must(made.has(index + 1) === isSending, `requests of version ${index + 1}: ${!isSending}`);
    }
  }

  #judgeRequest({ path, body }: DestinationRequest, number: number, arrived: Arrived | undefined): void {
    const version = this.#versions[number - 1];
    const parsed = JSON.parse(body) as Sent | readonly Sent[];
    const events = [parsed].flat() as readonly Sent[];
    const isFormed = Array.isArray(parsed) === (version?.batchSize !== 1) && events.length <= (version?.batchSize ?? 0);
    this.#must(isFormed && path === version?.path, `version ${number} made no such request: ${path} ${body}`);
    for (const { event } of events) {
      const known = eventAt(Number(event.id.slice(1)));
      const about = `version ${number} sent ${event.id} of ${known.visitor}`;
      const properties = JSON.stringify(event.event_properties);
      this.#must(properties === JSON.stringify(version?.properties), `${about} with ${properties}`);
      this.#must(version?.decide(known) === 'send', `${about}, which it excludes`);
      this.#must(arrived?.erased.has(known.visitor) !== true, `${about}, who was erased`);
      const statuses = this.#statuses.get(event.id) ?? new Map<number, number[]>();
      statuses.set(number, [...(statuses.get(number) ?? []), arrived?.status ?? 0]);
      this.#statuses.set(event.id, statuses);
    }
  }

  judgeNotes(notes: readonly OutcomeNote[]): void {
    for (const note of notes) {
      this.#last.set(note.eventId, note);
      this.#must(this.#isDescribed(note), `an outcome that its version does not describe: ${JSON.stringify(note)}`);
    }
  }

  #isDescribed({ eventId, outcome, reason = '', versionNumber = 0, attempts }: OutcomeNote): boolean {
    const version = this.#versions[versionNumber - 1];
    if (version === undefined) return false;
    const statuses = this.#statuses.get(eventId)?.get(versionNumber) ?? [];
    if (outcome === 'delivered') return statuses.includes(200);
    if (reason === 'erased') return true;
    const decision = version.decide(eventAt(Number(eventId.slice(1))));
    if (outcome !== 'retrying') return `${outcome} ${reason}`.startsWith(decision);
    return attempts > 0 && reason.startsWith('status') ? statuses.includes(503) : decision === 'send';
  }

  /** An event must be delivered once, be reported as stopped, or be skipped by some version. */
  judgeFate(event: Known): void {
    const taken = [...(this.#statuses.get(event.id)?.values() ?? [])].flat().filter((status) => status === 200).length;
    const last = this.#last.get(event.id)?.outcome;
    const isStopped = last === 'stopped' || last === 'globalStop';
    const isSkipped = this.#versions.some(({ isSending, decide }) => isSending && decide(event) === 'skip');
    const hasFate = taken === 0 ? isStopped || isSkipped : taken === 1 && last === 'delivered';
    this.#must(hasFate, `${event.id}: taken ${taken} times, then ${last}`);
  }

  #must(holds: boolean, violation: string): void {
    if (!holds) this.violations.push(violation);
  }
}
