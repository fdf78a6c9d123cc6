import { HttpConnection } from './http-connection.ts';
import { RequestTemplate } from './slots.ts';

export type PoolOptions = {
  readonly url: URL;
  /** Requests with slots, assigned to the connections in turn. */
  readonly requests: readonly Buffer[];
  readonly connections: number;
  /** Number of different visitors that the slots get. */
  readonly visitors: number;
  /** First number for the sequence slots, so that no two generators send the same number. */
  readonly sequenceFrom: number;
};

/** A connection with its request. */
export type Lane = {
  readonly connection: HttpConnection;
  readonly template: RequestTemplate;
  dueMs: number;
  isWaiting: boolean;
};

export type LaneEvents = {
  /** The lane can send: it was opened (no status), or its request was answered with this status. */
  onFree(lane: Lane, status: number | undefined): void;
};

/** Keeps a number of connections open, and reopens each that breaks. */
export class ConnectionPool {
  /** Requests whose connection broke before a response; an idle connection that a server closes is not counted. */
  failures = 0;
  /** Number of responses with status 200, including responses during the warm-up. */
  accepted = 0;
  /** Number of responses with any status. */
  answered = 0;
  /** Number of requests sent and not answered yet. */
  inFlight = 0;
  readonly #options: PoolOptions;
  readonly #events: LaneEvents;
  readonly #lanes = new Map<HttpConnection, Lane>();
  #sequence: number;
  #isClosed = false;

  constructor(options: PoolOptions, events: LaneEvents) {
    this.#options = options;
    this.#events = events;
    this.#sequence = options.sequenceFrom;
  }

  open(): void {
    for (let index = 0; index < this.#options.connections; index += 1) this.#openLane(index);
  }

  /** Sends the lane's request. Its latency counts from `dueMs`, a time of `performance.now()`. */
  send(lane: Lane, dueMs: number): void {
    lane.dueMs = dueMs;
    lane.isWaiting = true;
    this.inFlight += 1;
    lane.template.fill(this.#sequence, this.#options.visitors, performance.timeOrigin + dueMs);
    this.#sequence += lane.template.sequences;
    lane.connection.send(lane.template.bytes);
  }

  /** Due times of the unanswered requests. */
  waitingSince(): number[] {
    return [...this.#lanes.values()].filter(({ isWaiting }) => isWaiting).map(({ dueMs }) => dueMs);
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#lanes.keys()) connection.close();
    this.#lanes.clear();
  }

  #openLane(index: number): void {
    const { url, requests } = this.#options;
    const request = requests[index % requests.length];
    if (request === undefined) throw new Error('opening connections: there is no request to send');
    const template = new RequestTemplate(request);
    const connection = new HttpConnection(
      url,
      (status) => {
        this.#settle(lane);
        this.answered += 1;
        if (status === 200) this.accepted += 1;
        this.#events.onFree(lane, status);
      },
      () => this.#onFailure(lane, index),
    );
    const lane: Lane = { connection, template, dueMs: 0, isWaiting: false };
    this.#lanes.set(connection, lane);
    this.#events.onFree(lane, undefined);
  }

  #onFailure(lane: Lane, index: number): void {
    if (this.#isClosed || !this.#lanes.delete(lane.connection)) return;
    if (lane.isWaiting) this.failures += 1;
    this.#settle(lane);
    lane.connection.close();
    this.#openLane(index);
  }

  #settle(lane: Lane): void {
    if (!lane.isWaiting) return;
    lane.isWaiting = false;
    this.inFlight -= 1;
  }
}
