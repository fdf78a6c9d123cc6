import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { EgressRules } from '../egress-rules.ts';
import type { OutboundAnswer, OutboundRequest } from '../outbound.ts';
import type { ResolveName } from '../resolve-name.ts';
import { failureOf, SenderClosedError, SendTimeoutError, WithdrawnError } from '../send-result.ts';
import type { Sender, SenderLimits, SendResult } from '../sender.ts';
import { createGuardedSockets } from './guarded-socket.ts';
import { RefusedError } from './protocol.ts';
import type { Network, Protocol, Session } from './protocol.ts';

export type ProtocolOptions = {
  readonly protocols: readonly Protocol[];
  readonly rules: EgressRules;
  readonly limits: Pick<SenderLimits, 'connectTimeoutMs' | 'totalTimeoutMs'>;
  readonly resolveName?: ResolveName;
  readonly trusted?: SecureContext;
};

/** How long a session without a request is kept, in ms. */
const idleMs = 30_000;

/** Adds the other protocols to an HTTP sender. A session belongs to one sender, so that a login is never shared. */
export function createProtocolSenders(options: ProtocolOptions): (sender: Sender) => Sender {
  const { protocols, rules, limits, resolveName, trusted } = options;
  const speakers = new Map<string, Speaker>();
  for (const protocol of protocols) {
    const { connectTimeoutMs } = limits;
    const connect = createGuardedSockets({ rules, ports: protocol.ports, connectTimeoutMs, resolveName, trusted });
    for (const scheme of protocol.schemes)
      speakers.set(scheme, { protocol, network: { connect, trusted, connectTimeoutMs } });
  }
  return (sender) => {
    const sessions = new Map<Protocol, Sessions>();
    let isClosed = false;
    return {
      send(request, mayBegin = always) {
        const scheme = request.url.slice(0, request.url.indexOf(':') + 1);
        const speaker = speakers.get(scheme);
        if (speaker === undefined) return sender.send(request, mayBegin);
        if (isClosed) return Promise.resolve(failureOf(new SenderClosedError('sending: the sender is closed')));
        let own = sessions.get(speaker.protocol);
        if (own === undefined) sessions.set(speaker.protocol, (own = new Sessions(speaker, limits.totalTimeoutMs)));
        return own.send(request, mayBegin);
      },
      async close() {
        isClosed = true;
        for (const own of sessions.values()) own.close();
        await sender.close();
      },
    };
  };
}

const always = (): boolean => true;

type Speaker = { readonly protocol: Protocol; readonly network: Network };

/** Connections of a session that is being opened, and whether the request has already ended. */
type Opening = { readonly sockets: Socket[]; isOver: boolean };

const overBefore = (): Error => new SenderClosedError('sending: the request was over before it began');

type Idle = { readonly key: string; readonly session: Session; readonly timer: NodeJS.Timeout };

/** The sessions of one sender, at most `sessionsMax` of the protocol. Further requests wait in order of arrival. */
class Sessions {
  readonly #speaker: Speaker;
  readonly #totalTimeoutMs: number;
  readonly #idle: Idle[] = [];
  /** Functions that end the requests in flight. */
  readonly #ends = new Set<(error: Error) => void>();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #isClosed = false;

  constructor(speaker: Speaker, totalTimeoutMs: number) {
    this.#speaker = speaker;
    this.#totalTimeoutMs = totalTimeoutMs;
  }

  async send(request: OutboundRequest, mayBegin: () => boolean): Promise<SendResult> {
    await this.#turn();
    try {
      return { kind: 'answered', answer: await this.#exchange(request, mayBegin) };
    } catch (error) {
      return error instanceof RefusedError ? { kind: 'answered', answer: error.answer } : failureOf(error);
    } finally {
      // The slot goes directly to the oldest waiting request.
      const next = this.#waiting.shift();
      if (next === undefined) this.#busy -= 1;
      else next();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end(new SenderClosedError('sending: the sender was closed'));
    this.#dropIdle(() => true);
  }

  async #turn(): Promise<void> {
    if (this.#busy < this.#speaker.protocol.sessionsMax) this.#busy += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #exchange(request: OutboundRequest, mayBegin: () => boolean): Promise<OutboundAnswer> {
    this.#check(mayBegin);
    let session: Session | undefined;
    let end: (error: Error) => void = () => undefined;
    const ended = new Promise<never>((_, reject) => {
      end = reject;
    });
    const timer = setTimeout(() => end(new SendTimeoutError('sending: no whole answer in time')), this.#totalTimeoutMs);
    this.#ends.add(end);
    const key = keyOf(request);
    const opening: Opening = { sockets: [], isOver: false };
    const exchanged = async (): Promise<OutboundAnswer> => {
      session = this.#takeIdle(key) ?? (await this.#open(request, opening));
      if (opening.isOver) {
        session.close();
        throw overBefore();
      }
      this.#check(mayBegin);
      return session.exchange(request);
    };
    try {
      const answer = await Promise.race([exchanged(), ended]);
      if (session !== undefined) this.#keep(key, session);
      return answer;
    } catch (error) {
      if (error instanceof WithdrawnError && session !== undefined) this.#keep(key, session);
      else session?.close();
      if (session === undefined) {
        opening.isOver = true;
        for (const socket of opening.sockets) socket.destroy();
      }
      throw error;
    } finally {
      clearTimeout(timer);
      this.#ends.delete(end);
    }
  }

  async #open(request: OutboundRequest, opening: Opening): Promise<Session> {
    const { protocol, network } = this.#speaker;
    const connect: Network['connect'] = async (target) => {
      const socket = await network.connect(target);
      if (opening.isOver) {
        socket.destroy();
        throw overBefore();
      }
      opening.sockets.push(socket);
      return socket;
    };
    const session = await protocol.open(request, { ...network, connect });
    // From now on the session closes its sockets.
    opening.sockets.length = 0;
    return session;
  }

  #check(mayBegin: () => boolean): void {
    if (this.#isClosed) throw new SenderClosedError('sending: the sender is closed');
    if (!mayBegin()) throw new WithdrawnError('sending: the request was withdrawn');
  }

  /** Takes an idle session. Idle sessions with another server or login belong to earlier settings and are closed. */
  #takeIdle(key: string): Session | undefined {
    this.#dropIdle((idle) => idle.key !== key || !idle.session.isUsable);
    const idle = this.#idle.pop();
    clearTimeout(idle?.timer);
    return idle?.session;
  }

  #keep(key: string, session: Session): void {
    if (this.#isClosed || !session.isUsable) {
      session.close();
      return;
    }
    const timer = setTimeout(() => this.#dropIdle((idle) => idle.session === session), idleMs);
    this.#idle.push({ key, session, timer });
  }

  #dropIdle(isDropped: (idle: Idle) => boolean): void {
    for (const idle of this.#idle.filter(isDropped)) {
      clearTimeout(idle.timer);
      idle.session.close();
      this.#idle.splice(this.#idle.indexOf(idle), 1);
    }
  }
}

/** A key made of server, options and login; requests with the same key share sessions. */
function keyOf({ url, headers }: OutboundRequest): string {
  return JSON.stringify([url, headers['authorization']]);
}
