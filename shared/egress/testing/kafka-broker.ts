import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TlsOptions } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { createScramServer } from './scram-server.ts';

/** A message as it was stored. */
export type StoredMessage = {
  readonly partition: number;
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A batch of records, as the producer sent it. */
export type StoredBatch = {
  readonly acks: number;
  readonly topic: string;
  readonly producerId: bigint;
  readonly baseSequence: number;
  readonly messages: readonly StoredMessage[];
};

export type BrokerScript = {
  readonly topic: string;
  readonly partitions: number;
  /** The address announced for the leader of all partitions; default: the broker's own. */
  readonly leader?: { readonly host: string; readonly port: number };
  /** The accepted login, as `name:password`; default: no login. */
  readonly login?: string;
  readonly mechanism?: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  /** Default: no TLS. */
  readonly tls?: TlsOptions;
  /** The password with which the broker proves its identity, if it is not the login's password. */
  readonly ownPassword?: string;
  /** The iterations that the broker demands of a SCRAM client. */
  readonly iterations?: number;
  /**
   * The error code of the response to a batch; 0: the batch is stored; `silence`: there is no response.
   * https://kafka.apache.org/protocol.html#protocol_error_codes
   */
  errorOf?(batch: StoredBatch): number | 'silence';
};

export type ScriptedBroker = {
  readonly port: number;
  readonly batches: readonly StoredBatch[];
  readonly open: number;
};

const apis = { produce: 0, metadata: 3, saslHandshake: 17, apiVersions: 18, initProducerId: 22, saslAuthenticate: 36 };
/** The only supported version of each request. */
const versions: Readonly<Record<number, number>> = {
  [apis.produce]: 3,
  [apis.metadata]: 1,
  [apis.saslHandshake]: 1,
  [apis.apiVersions]: 0,
  [apis.initProducerId]: 0,
  [apis.saslAuthenticate]: 0,
};
const errors = { unknownTopic: 3, unsupportedMechanism: 33, unsupportedVersion: 35, saslAuthenticationFailed: 58 };

/** Starts a broker with one topic, with the part of https://kafka.apache.org/protocol.html that a producer needs. */
export async function startKafkaBroker(script: BrokerScript): Promise<ScriptedBroker> {
  const batches: StoredBatch[] = [];
  const sockets = new Set<Socket>();
  let producers = 0n;
  const serve = (socket: Socket): void => {
    const login = loginFor(script);
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) {
        const end = 4 + bytes.readInt32BE(0);
        const reply = answer(new Reader(bytes.subarray(4, end)), login);
        bytes = bytes.subarray(end);
        if (reply !== undefined) socket.write(Buffer.concat([int32(reply.length), reply]));
      }
    });
  };
  const server = script.tls === undefined ? createServer(serve) : createTlsServer(script.tls, serve);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const answer = (request: Reader, login: SaslLogin): Buffer | undefined => {
    const [api, version, correlation] = [request.int16(), request.int16(), request.int32()];
    request.string();
    const head = int32(correlation);
    // An ApiVersions request of any version gets the supported versions, in the oldest format.
    if (api === apis.apiVersions)
      return Buffer.concat([head, apiVersions(version === 0 ? 0 : errors.unsupportedVersion)]);
    if (version !== versions[api]) throw new Error(`version ${version} of ${api} is not spoken`);
    if (!login.isDone && !beforeLogin.has(api)) throw new Error(`${api} comes before the login`);
    const body = bodyOf(api, request, login);
    return body === undefined ? undefined : Buffer.concat([head, body]);
  };
  const bodyOf = (api: number, request: Reader, login: SaslLogin): Buffer | undefined => {
    switch (api) {
      case apis.metadata:
        return metadata(script, port, request.array(request.string));
      case apis.saslHandshake: {
        const isOffered = request.string() === login.mechanism;
        return Buffer.concat([int16(isOffered ? 0 : errors.unsupportedMechanism), array([string(login.mechanism)])]);
      }
      case apis.saslAuthenticate: {
        const reply = login.answer(request.bytes().toString('utf8'));
        const code = reply === undefined ? errors.saslAuthenticationFailed : 0;
        const bytes = Buffer.from(reply ?? '');
        return Buffer.concat([int16(code), string('no'), int32(bytes.length), bytes]);
      }
      case apis.initProducerId:
        producers += 1n;
        return Buffer.concat([int32(0), int16(0), int64(producers), int16(0)]);
      case apis.produce:
        return stored(request);
      default:
        throw new Error(`${api} is not scripted`);
    }
  };
  const stored = (request: Reader): Buffer | undefined => {
    request.string();
    const acks = request.int16();
    request.int32();
    let isSilent = false;
    const topics = request.array(() => {
      const topic = request.string();
      const answers = request.array(() => {
        const partition = request.int32();
        const batch = { acks, topic, ...readBatch(new Reader(request.bytes()), partition) };
        const error = script.errorOf?.(batch) ?? 0;
        if (error === 'silence') isSilent = true;
        else if (error === 0) batches.push(batch);
        return Buffer.concat([int32(partition), int16(error === 'silence' ? 0 : error), int64(0n), int64(-1n)]);
      });
      return Buffer.concat([string(topic), array(answers)]);
    });
    return isSilent ? undefined : Buffer.concat([array(topics), int32(0)]);
  };
  return {
    port,
    batches,
    get open() {
      return sockets.size;
    },
  };
}

const beforeLogin: ReadonlySet<number> = new Set([apis.apiVersions, apis.saslHandshake, apis.saslAuthenticate]);

type SaslLogin = {
  readonly mechanism: string;
  readonly isDone: boolean;
  /** The response to a message of the client; undefined if the login is refused. */
  answer(message: string): string | undefined;
};

/** The login of one connection. https://kafka.apache.org/protocol.html#sasl_handshake */
function loginFor({ login, mechanism = 'PLAIN', ownPassword, iterations }: BrokerScript): SaslLogin {
  const [, user = '', password = ''] = /^([^:]*):(.*)$/.exec(login ?? '') ?? [];
  const digest = mechanism === 'SCRAM-SHA-512' ? 'sha512' : 'sha256';
  const scram = createScramServer({ user, password, ownPassword }, { digest, iterations });
  let isDone = login === undefined;
  return {
    mechanism,
    get isDone() {
      return isDone;
    },
    answer(message) {
      const reply = mechanism === 'PLAIN' ? (message === `\0${user}\0${password}` ? '' : undefined) : scram(message);
      isDone = reply !== undefined && !reply.startsWith('r=');
      return reply;
    },
  };
}

function apiVersions(error: number): Buffer {
  const spoken = Object.entries(versions).map(([api, version]) =>
    Buffer.concat([int16(Number(api)), int16(version), int16(version)]),
  );
  return Buffer.concat([int16(error), array(spoken)]);
}

function metadata({ topic, partitions, leader }: BrokerScript, port: number, asked: readonly string[]): Buffer {
  const broker = (id: number, host: string, at: number) =>
    Buffer.concat([int32(id), string(host), int32(at), int16(-1)]);
  const brokers = [
    broker(1, '127.0.0.1', port),
    ...(leader === undefined ? [] : [broker(2, leader.host, leader.port)]),
  ];
  const ids = Array.from({ length: partitions }, (_, id) =>
    Buffer.concat([int16(0), int32(id), int32(leader === undefined ? 1 : 2), array([int32(1)]), array([int32(1)])]),
  );
  const topics = asked.map((name) => {
    const isMissing = name !== topic;
    const code = isMissing ? errors.unknownTopic : 0;
    return Buffer.concat([int16(code), string(name), Buffer.from([0]), array(isMissing ? [] : ids)]);
  });
  return Buffer.concat([array(brokers), int32(1), array(topics)]);
}

/** A record batch of magic 2. https://kafka.apache.org/documentation/#recordbatch */
function readBatch(batch: Reader, partition: number): Pick<StoredBatch, 'producerId' | 'baseSequence' | 'messages'> {
  batch.skip(8 + 4 + 4 + 1 + 4);
  const isGzip = (batch.int16() & 7) === 1;
  batch.skip(4 + 8 + 8);
  const producerId = batch.int64();
  batch.skip(2);
  const baseSequence = batch.int32();
  const count = batch.int32();
  const records = isGzip ? new Reader(gunzipSync(batch.rest())) : batch;
  const messages = Array.from({ length: count }, (): StoredMessage => {
    records.varint();
    records.skip(1);
    records.varint();
    records.varint();
    const [key, value] = [records.text(), records.text()];
    const headers = Array.from({ length: records.varint() }, () => [records.text(), records.text()] as const);
    return { partition, key, value, headers: Object.fromEntries(headers) };
  });
  return { producerId, baseSequence, messages };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  skip(count: number): number {
    const at = this.#at;
    this.#at += count;
    return at;
  }

  int16 = (): number => this.#bytes.readInt16BE(this.skip(2));
  int32 = (): number => this.#bytes.readInt32BE(this.skip(4));
  int64 = (): bigint => this.#bytes.readBigInt64BE(this.skip(8));
  string = (): string => this.#take(this.int16()).toString('utf8');
  bytes = (): Buffer => this.#take(this.int32());
  rest = (): Buffer => this.#bytes.subarray(this.#at);
  text = (): string => this.#take(this.varint()).toString('utf8');

  array<Item>(read: () => Item): Item[] {
    return Array.from({ length: Math.max(0, this.int32()) }, read);
  }

  /** An integer of variable length in zigzag encoding. */
  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes.readUInt8(this.skip(1));
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }

  #take(length: number): Buffer {
    const from = this.skip(Math.max(0, length));
    return this.#bytes.subarray(from, this.#at);
  }
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

const string = (text: string): Buffer => Buffer.concat([int16(Buffer.byteLength(text)), Buffer.from(text)]);
const array = (items: readonly Buffer[]): Buffer => Buffer.concat([int32(items.length), ...items]);
