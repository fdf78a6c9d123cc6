import { createServer, connect as dial } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { splitNatsStream } from './split-nats-stream.ts';
import type { NatsOperation } from './split-nats-stream.ts';

/** A message that a client publishes, as the server would receive it. */
export type GatedMessage = { readonly subject: string; readonly text: string };

type Stillness = 'everything' | 'answers';

/** Messages that do not reach the server. */
export type HeldMessages = {
  readonly messages: readonly GatedMessage[];
  /** Resolves once the first message is held. */
  readonly arrived: Promise<void>;
  /** Sends the held messages on, in order, and stops holding messages. */
  release(): void;
};

/**
 * A proxy between clients and a nats-server that stops chosen messages of the clients. While a message is held, all
 * other messages pass: a message that should have waited for the held message therefore shows in `passed` and reaches a
 * successor process.
 */
export type LogGate = {
  /** The server's address through the gate, with the login of the address that the gate was opened with. */
  readonly url: string;
  /** Messages that reached the server, oldest first. */
  readonly passed: readonly GatedMessage[];
  /** Sequences of a stream's acknowledged messages, in the order of the acknowledgements. */
  acknowledged(stream: string): number[];
  /**
   * Holds messages that are published from now on to a subject (wildcards allowed) and contain `text` in their headers
   * or payload.
   */
  hold(subject: string, text?: string): HeldMessages;
  /** Drops messages, which are selected as in `hold`, and answers them like a full stream. */
  refuse(subject: string, text?: string): HeldMessages;
  /**
   * Holds all traffic, as if the process were suspended; returns a function that lets traffic pass again.
   * `of: 'answers'` holds only the traffic from the server.
   */
  standStill(of?: Stillness): () => void;
  /** Ends every connection, as a killed process would. Held messages are lost. */
  cut(): void;
  close(): Promise<void>;
};

type StoppedMessage = {
  readonly message: GatedMessage;
  readonly connection: GatedConnection;
  readonly bytes: Buffer;
  /** Subject on which the client expects the answer to the message. */
  readonly reply: string;
};

type Rule = { readonly subject: string; readonly text: string; take(stopped: StoppedMessage): void };

/** The answer of nats-server at a limit with `discard: new`. */
const fullAnswer = JSON.stringify({
  type: 'io.nats.jetstream.api.v1.pub_ack',
  error: { code: 503, err_code: 10077, description: 'maximum bytes exceeded' },
});

export async function openLogGate(serverUrl: string): Promise<LogGate> {
  const server = new URL(serverUrl);
  const rules = new Set<Rule>();
  const passed: GatedMessage[] = [];
  const connections = new Set<GatedConnection>();
  let still: Stillness | undefined;
  const gate = createServer((socket) => {
    const target = { host: server.hostname, port: Number(server.port) };
    const connection = new GatedConnection(socket, dial(target), { rules, passed });
    connections.add(connection);
    if (still !== undefined) connection.pause(still);
    socket.on('close', () => connections.delete(connection));
  });
  await new Promise<void>((resolve) => {
    gate.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(serverUrl);
  url.port = String((gate.address() as AddressInfo).port);
  /** `take` handles a stopped message and returns a function that sends the message on. */
  const stop = (subject: string, text: string, take: (stopped: StoppedMessage) => () => void): HeldMessages => {
    const messages: GatedMessage[] = [];
    const sendOn: (() => void)[] = [];
    let arrive: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const rule: Rule = {
      subject,
      text,
      take(stopped) {
        messages.push(stopped.message);
        sendOn.push(take(stopped));
        arrive();
      },
    };
    rules.add(rule);
    const release = (): void => {
      rules.delete(rule);
      for (const send of sendOn.splice(0)) send();
    };
    return { messages, arrived, release };
  };
  const cut = (): void => {
    for (const connection of connections) connection.end();
  };
  return {
    // Without a trailing slash, which clients would treat as a part of the address.
    url: url.href.replace(/\/$/, ''),
    passed,
    acknowledged: (stream) => passed.flatMap((message) => acknowledgedSeq(message, stream) ?? []),
    hold: (subject, text = '') =>
      stop(
        subject,
        text,
        ({ message, connection, bytes }) =>
          () =>
            connection.pass(message, bytes),
      ),
    refuse: (subject, text = '') =>
      stop(subject, text, ({ connection, reply }) => {
        connection.answer(reply, fullAnswer);
        return () => undefined;
      }),
    standStill(of = 'everything') {
      still = of;
      for (const connection of connections) connection.pause(of);
      return () => {
        still = undefined;
        for (const connection of connections) connection.resume();
      };
    },
    cut,
    async close() {
      cut();
      await new Promise((resolve) => gate.close(resolve));
    },
  };
}

class GatedConnection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #rules: ReadonlySet<Rule>;
  readonly #passed: GatedMessage[];
  /** Subjects that the client has subscribed to, by subscription id. */
  readonly #subscriptions = new Map<string, string>();

  constructor(
    client: Socket,
    server: Socket,
    { rules, passed }: { readonly rules: ReadonlySet<Rule>; readonly passed: GatedMessage[] },
  ) {
    this.#client = client;
    this.#server = server;
    this.#rules = rules;
    this.#passed = passed;
    client.on(
      'data',
      splitNatsStream((operation) => this.#fromClient(operation)),
    );
    // The server's traffic is split too, so that the gate's own answers go between two messages.
    server.on(
      'data',
      splitNatsStream(({ bytes }) => client.write(bytes)),
    );
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => this.end());
    }
  }

  end(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  pause(of: Stillness): void {
    if (of === 'everything') this.#client.pause();
    this.#server.pause();
  }

  resume(): void {
    this.#client.resume();
    this.#server.resume();
  }

  pass(message: GatedMessage, bytes: Buffer): void {
    if (this.#server.destroyed) return;
    this.#passed.push(message);
    this.#server.write(bytes);
  }

  answer(reply: string, text: string): void {
    for (const [id, subject] of this.#subscriptions) {
      if (!matchesSubject(subject, reply)) continue;
      this.#client.write(`MSG ${reply} ${id} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
      return;
    }
  }

  #fromClient({ verb, args, bytes, payload }: NatsOperation): void {
    if (verb === 'SUB') this.#subscriptions.set(args.at(-1) ?? '', args[0] ?? '');
    if (verb === 'UNSUB' && args.length === 1) this.#subscriptions.delete(args[0] ?? '');
    const [subject = ''] = args;
    if (verb !== 'PUB' && verb !== 'HPUB') {
      this.#server.write(bytes);
      return;
    }
    const message = { subject, text: payload.toString('latin1') };
    const rule = [...this.#rules].find(
      (one) => matchesSubject(one.subject, subject) && message.text.includes(one.text),
    );
    const reply = args.length > (verb === 'PUB' ? 2 : 3) ? (args[1] ?? '') : '';
    if (rule === undefined) this.pass(message, bytes);
    else rule.take({ message, connection: this, bytes, reply });
  }
}

/** Reads `$JS.ACK.<stream>.<consumer>.<delivered>.<sequence>…`; in a newer form two tokens precede the stream. */
function acknowledgedSeq({ subject, text }: GatedMessage, stream: string): number | undefined {
  if (!subject.startsWith('$JS.ACK.') || text !== '+ACK') return undefined;
  const tokens = subject.split('.');
  const at = tokens.length >= 11 ? 4 : 2;
  return tokens[at] === stream ? Number(tokens[at + 3]) : undefined;
}

/** Whether a subject matches a pattern, in which `*` stands for one token and `>` for one or more at the end. */
export function matchesSubject(pattern: string, subject: string): boolean {
  const tokens = subject.split('.');
  const wanted = pattern.split('.');
  if (wanted.at(-1) === '>' ? tokens.length < wanted.length : tokens.length !== wanted.length) return false;
  return wanted.every((token, index) => token === '>' || token === '*' || token === tokens[index]);
}
