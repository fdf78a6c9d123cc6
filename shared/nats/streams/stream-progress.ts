import type { ConsumerInfo, StreamInfo } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { isNotFound } from '../connection/server-error.ts';

export type StreamState = {
  readonly bytes: number;
  /** Undefined: no limit. */
  readonly bytesMax: number | undefined;
  readonly messages: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** When the stream was created; a stream that was deleted and created again has another time. */
  readonly createdAt: string;
  /** The time of the server that answered, in ms since the epoch. */
  readonly serverMs: number;
};

export async function readStreamState(connection: LogConnection, stream: string): Promise<StreamState> {
  return stateOf(await connection[client].jsm.streams.info(stream));
}

function stateOf({ config, state, created: createdAt, ts }: StreamInfo & { readonly ts?: unknown }): StreamState {
  return {
    createdAt,
    // The client library types `ts` as a number, but the server sends a text.
    serverMs: Date.parse(String(ts)),
    bytes: state.bytes,
    bytesMax: config.max_bytes > 0 ? config.max_bytes : undefined,
    messages: state.messages,
    firstSeq: state.first_seq,
    lastSeq: state.last_seq,
  };
}

/** The state of a stream and the number of messages of each matching subject, at one moment. */
export async function readSubjects(
  connection: LogConnection,
  stream: string,
  filter: string,
): Promise<{ readonly state: StreamState; readonly messages: ReadonlyMap<string, number> }> {
  const info = await connection[client].jsm.streams.info(stream, { subjects_filter: filter });
  return { state: stateOf(info), messages: new Map(Object.entries(info.state.subjects ?? {})) };
}

/** Messages of a stream that a server found damaged or missing since it started. */
export type StreamLoss = {
  readonly bytes: number;
  /** Sequences of the lost messages as far as known; empty if the server found a file that ends too early. */
  readonly seqs: readonly number[];
};

/** Maximum number of gaps in the sequences; with more, the request costs the server too much. */
const gapsMax = 1_000_000;

/** The losses of a stream; undefined if it has too many gaps for the request. */
export async function readStreamLoss(
  { [client]: { jsm } }: LogConnection,
  stream: string,
): Promise<StreamLoss | undefined> {
  const { state } = await jsm.streams.info(stream);
  if ((state.num_deleted ?? 0) > gapsMax) return undefined;
  // The server reports losses only together with gaps.
  const { lost } = (await jsm.streams.info(stream, { deleted_details: true })).state;
  return { bytes: lost?.bytes ?? 0, seqs: lost?.msgs ?? [] };
}

export type ConsumerProgress = {
  readonly name: string;
  readonly filterSubject: string;
  /** Everything up to here is acknowledged. */
  readonly ackedSeq: number;
  /** Number of messages not yet delivered; `unacknowledged` counts the messages delivered and not acknowledged. */
  readonly waiting: number;
  readonly unacknowledged: number;
  /** Number of unacknowledged messages at which the server stops delivering. */
  readonly unacknowledgedMax: number;
};

/** The progress of each durable consumer of a stream. */
export async function listConsumerProgress(connection: LogConnection, stream: string): Promise<ConsumerProgress[]> {
  const found: ConsumerProgress[] = [];
  for await (const info of connection[client].jsm.consumers.list(stream)) {
    if (info.config.durable_name === undefined) continue;
    found.push(progressOf(info));
  }
  return found;
}

/** The progress of a consumer; undefined if no consumer has this name. */
export async function readConsumerProgress(
  connection: LogConnection,
  stream: string,
  name: string,
): Promise<ConsumerProgress | undefined> {
  try {
    return progressOf(await connection[client].jsm.consumers.info(stream, name));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const progressOf = (info: ConsumerInfo): ConsumerProgress => ({
  name: info.name,
  filterSubject: info.config.filter_subject ?? '>',
  ackedSeq: info.ack_floor.stream_seq,
  waiting: info.num_pending,
  unacknowledged: info.num_ack_pending,
  unacknowledgedMax: info.config.max_ack_pending ?? 0,
});
