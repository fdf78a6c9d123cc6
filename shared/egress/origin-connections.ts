import type { Socket } from 'node:net';
import type { OutboundAnswer } from './outbound.ts';
import type { Deadlines } from './deadlines.ts';
import { HttpConnection } from './http-connection.ts';
import type { ConnectionOwner } from './http-connection.ts';
import type { WrittenRequest } from './write-request.ts';

/** A request until it ends with a response, an error or a timeout. */
export type Exchange = {
  readonly request: WrittenRequest;
  /** Whether the request still has to be sent; false once it has ended or was withdrawn. */
  mayBegin(): boolean;
  /** Called when the request does not wait in the queue any more; may be called again. */
  begun(): void;
  answered(answer: OutboundAnswer): void;
  failed(error: unknown): void;
};

/** One sender's requests and connections at an origin. */
type Lane = {
  /** Connections in use by the sender, including those being opened. */
  inUse: number;
  /** Exchanges for which connections are being opened. */
  connecting: Exchange[];
  /** Exchanges that wait for a connection, in order of arrival. */
  waiting: Exchange[];
};

/** Calls back once, with a connected socket or the error. */
type Connect = (connected: (error: Error | null, socket: Socket | null) => void) => void;

export type OriginConnectionsOptions = {
  readonly connect: Connect;
  /** Maximum connections. Each lane may have one connection beyond this limit. */
  readonly connectionsMax: number;
  readonly silences: Deadlines;
  /**
   * Called when the last connection has closed, or the last sender has left. If needed, a new object then replaces this
   * one.
   */
  readonly onEmpty: () => void;
};

const sweepEveryMs = 1_000;
/** Maximum lanes that are checked to find one below its fair share. */
const lookedAtMax = 16;

/**
 * The connections to one origin, shared by several senders. When all connections are in use, senders wait in turn, and
 * senders below their fair share come first. A sender without any connection gets one beyond the limit, so that senders
 * that wait for slow answers do not block the others.
 */
export class OriginConnections implements ConnectionOwner {
  readonly #options: OriginConnectionsOptions;
  /** Lanes by sender. */
  readonly #lanes = new Map<object, Lane>();
  /** Lanes with waiting exchanges, in round-robin order. */
  readonly #turns: Lane[] = [];
  /** Open connections. An array, not a Set, because connections change often. */
  readonly #connections: HttpConnection[] = [];
  /** The exchange on each connection, by its slot; undefined if the connection is idle. */
  readonly #underWay: (UnderWay | undefined)[] = [];
  /** Idle connections, the most recently used last, so that unneeded connections age out. */
  readonly #idle: HttpConnection[] = [];
  #connecting = 0;
  #sweeper: NodeJS.Timeout | undefined;
  #isDestroyed = false;

  constructor(options: OriginConnectionsOptions) {
    this.#options = options;
  }

  /** Connections that are open or being opened. */
  get open(): number {
    return this.#connections.length + this.#connecting;
  }

  /** Sends an exchange now, or in its turn if no connection is free. */
  send(sender: object, exchange: Exchange): void {
    const lane = this.#laneOf(sender);
    if (this.#start(lane, exchange)) return;
    if (lane.waiting.push(exchange) === 1) this.#turns.push(lane);
  }

  /** Closes the connection on which an exchange has timed out. */
  giveUp(exchange: Exchange): void {
    const connection = this.#connections.find(({ slot }) => this.#underWay[slot]?.exchange === exchange);
    if (connection !== undefined) this.#goOn(this.#end(connection)?.lane);
  }

  /** Ends a sender's exchanges and returns them. When the last sender leaves, all connections close. */
  leave(sender: object): readonly Exchange[] {
    const lane = this.#lanes.get(sender);
    if (lane === undefined) return [];
    this.#lanes.delete(sender);
    const left = [...lane.connecting.splice(0), ...lane.waiting.splice(0)];
    for (const connection of this.#connections.filter(({ slot }) => this.#underWay[slot]?.lane === lane)) {
      left.push(...this.#exchangesOf(this.#end(connection)));
    }
    if (this.#lanes.size === 0) this.#destroy();
    else this.#goOn();
    return left;
  }

  ended(connection: HttpConnection, answer: OutboundAnswer, idleMs: number): void {
    const { slot } = connection;
    const done = this.#underWay[slot];
    if (done === undefined) return;
    const { lane, exchange } = done;
    this.#underWay[slot] = undefined;
    lane.inUse -= 1;
    if (idleMs > 0) {
      this.#pass(connection, idleMs, lane);
    } else {
      this.#remove(connection);
      this.#goOn(lane);
    }
    exchange.answered(answer);
  }

  broke(connection: HttpConnection, error: unknown): void {
    const done = this.#end(connection);
    this.#goOn(done?.lane);
    done?.exchange.failed(error);
  }

  #laneOf(sender: object): Lane {
    const known = this.#lanes.get(sender);
    if (known !== undefined) return known;
    const lane: Lane = { inUse: 0, connecting: [], waiting: [] };
    this.#lanes.set(sender, lane);
    return lane;
  }

  /** Starts the exchange on an idle or a new connection. False if the exchange has to wait. */
  #start(lane: Lane, exchange: Exchange): boolean {
    const nowMs = performance.now();
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.idleUntilMs > nowMs) {
        this.#use(idle, lane, exchange);
        return true;
      }
      this.#end(idle);
    }
    if (this.open >= this.#options.connectionsMax && lane.inUse > 0) return false;
    this.#connect(lane, exchange);
    return true;
  }

  #use(connection: HttpConnection, lane: Lane, exchange: Exchange): void {
    lane.inUse += 1;
    this.#underWay[connection.slot] = { lane, exchange };
    exchange.begun();
    connection.send(exchange.request);
  }

  /** Opens a connection for an exchange. If the exchange ends before it is open, other exchanges use the connection. */
  #connect(lane: Lane, exchange: Exchange): void {
    lane.inUse += 1;
    this.#connecting += 1;
    lane.connecting.push(exchange);
    exchange.begun();
    let isAtOnce = true;
    this.#options.connect((error, socket) => {
      // A connection that is refused synchronously would start the next one from here, recursively.
      if (isAtOnce) queueMicrotask(() => this.#connected(lane, exchange, error, socket));
      else this.#connected(lane, exchange, error, socket);
    });
    isAtOnce = false;
  }

  #connected(lane: Lane, exchange: Exchange, error: Error | null, socket: Socket | null): void {
    this.#connecting -= 1;
    lane.inUse -= 1;
    const at = lane.connecting.indexOf(exchange);
    if (at >= 0) lane.connecting.splice(at, 1);
    if (socket === null || this.#isDestroyed) {
      socket?.destroy();
      this.#goOn(lane);
      exchange.failed(error);
      return;
    }
    const connection = new HttpConnection(socket, this, this.#options.silences);
    connection.slot = this.#connections.push(connection) - 1;
    this.#underWay.push(undefined);
    if (exchange.mayBegin()) this.#use(connection, lane, exchange);
    else this.#pass(connection, sweepEveryMs, lane);
  }

  /**
   * Gives a free connection to lane `before` if that lane waits and uses no other, otherwise to the next lane in turn.
   * If no lane waits, the connection idles.
   */
  #pass(connection: HttpConnection, idleMs: number, before: Lane): void {
    for (let lane = this.#nextLane(before); lane !== undefined; lane = this.#nextLane(before)) {
      const exchange = this.#takeWaiting(lane);
      if (exchange === undefined) continue;
      this.#use(connection, lane, exchange);
      return;
    }
    connection.idleUntilMs = performance.now() + idleMs;
    this.#idle.push(connection);
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepEveryMs).unref();
  }

  #nextLane(before: Lane): Lane | undefined {
    if (before.inUse === 0 && before.waiting.length > 0) return before;
    const turns = this.#turns;
    const share = Math.max(1, Math.floor(this.#options.connectionsMax / this.#lanes.size));
    for (let looked = Math.min(lookedAtMax, turns.length); looked > 0; looked -= 1) {
      const [lane] = turns;
      if (lane === undefined || lane.inUse < share) return lane;
      turns.shift();
      turns.push(lane);
    }
    return turns[0];
  }

  /**
   * Opens connections for waiting exchanges after one has closed. The `lane` that used the closed connection keeps at
   * least one.
   */
  #goOn(lane?: Lane): void {
    const own = lane?.inUse === 0 ? this.#takeWaiting(lane) : undefined;
    if (lane !== undefined && own !== undefined) this.#connect(lane, own);
    while (this.#turns.length > 0 && this.open < this.#options.connectionsMax) {
      const next = this.#nextLane(noLane);
      const exchange = next === undefined ? undefined : this.#takeWaiting(next);
      if (next !== undefined && exchange !== undefined) this.#connect(next, exchange);
    }
    if (this.open === 0) this.#options.onEmpty();
  }

  /**
   * Takes the lane's next waiting exchange, and uses up the lane's turn. Undefined if no waiting exchange still has to
   * be sent.
   */
  #takeWaiting(lane: Lane): Exchange | undefined {
    const at = this.#turns.indexOf(lane);
    if (at >= 0) this.#turns.splice(at, 1);
    let next = lane.waiting.shift();
    while (next?.mayBegin() === false) next = lane.waiting.shift();
    if (lane.waiting.length > 0) this.#turns.push(lane);
    return next;
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const connection of this.#idle.filter(({ idleUntilMs }) => idleUntilMs <= nowMs)) this.#end(connection);
    if (this.#idle.length === 0) this.#stopSweeping();
    if (this.open === 0) this.#options.onEmpty();
  }

  #stopSweeping(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #destroy(): void {
    this.#isDestroyed = true;
    this.#stopSweeping();
    for (let last = this.#connections.at(-1); last !== undefined; last = this.#connections.at(-1)) this.#end(last);
    // A new exchange must not wait for a connection that is still being opened.
    this.#options.onEmpty();
  }

  #exchangesOf(done: UnderWay | undefined): readonly Exchange[] {
    return done === undefined ? [] : [done.exchange];
  }

  /** Closes a connection and removes it. Returns the exchange that it carried; undefined if it was idle. */
  #end(connection: HttpConnection): UnderWay | undefined {
    connection.destroy();
    const idle = this.#idle.indexOf(connection);
    if (idle >= 0) this.#idle.splice(idle, 1);
    const done = this.#underWay[connection.slot];
    if (done !== undefined) done.lane.inUse -= 1;
    this.#remove(connection);
    return done;
  }

  /** Removes a connection; the last one takes over its slot. */
  #remove(connection: HttpConnection): void {
    const { slot } = connection;
    const last = this.#connections.at(-1);
    if (slot < 0 || last === undefined) return;
    this.#connections[slot] = last;
    this.#underWay[slot] = this.#underWay.at(-1);
    last.slot = slot;
    this.#connections.pop();
    this.#underWay.pop();
    connection.slot = -1;
  }
}

type UnderWay = { readonly lane: Lane; readonly exchange: Exchange };

const noLane: Lane = { inUse: 0, connecting: [], waiting: [] };
