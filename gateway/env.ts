import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import { logEnv, logEnvRules, topologyEnv } from '../shared/nats/connection/log-env.ts';
import { EnvError, count, port, readEnv, serviceEnv, servingEnv } from '../shared/runtime/env.ts';
import { needs, together } from '../shared/runtime/env-rules.ts';
import { jsonDepthCeiling } from '../shared/runtime/json-depth.ts';
import { proxyProblems, splitProxies } from '../shared/admission/trusted-proxies.ts';

const mebibyte = 1024 ** 2;
const dayMs = 86_400_000;

const GatewayEnvSchema = Type.Object({
  ...logEnv,
  ...topologyEnv,
  ...serviceEnv,
  ...servingEnv,
  GATEWAY_PORT: port(8080),
  GATEWAY_HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
  GATEWAY_METRICS_PORT: port(9080),
  /** Lets several gateway processes share one port; otherwise a busy port is an error. */
  GATEWAY_REUSE_PORT: Type.Boolean({ default: false }),
  /** Certificate chain and key, PEM files: with them the gateway speaks TLS, and only TLS. The metrics port stays plain. */
  GATEWAY_TLS_CERT_FILE: Type.Optional(Type.String({ minLength: 1 })),
  GATEWAY_TLS_KEY_FILE: Type.Optional(Type.String({ minLength: 1 })),
  /** Of an encrypted key. */
  GATEWAY_TLS_PASSPHRASE: Type.Optional(Type.String({ minLength: 1 })),
  /** Addresses or CIDR ranges, comma separated, of proxies whose X-Forwarded-For is believed. */
  TRUSTED_PROXIES: Type.String({ default: '' }),

  /** The control plane that serves experiments; without it they are not served under the ingest address. */
  CONTROL_PLANE_URL: Type.Optional(Type.String({ pattern: '^https?://' })),
  /** Requests for experiments on their way to the control plane; more are refused. */
  EXPERIMENT_REQUESTS_MAX: count(512),
  /** The control plane answers a request for an experiment within this time, in ms. */
  EXPERIMENT_DEADLINE_MS: count(2_000, 10),

  /** A body of track, identify or a webhook. */
  TRACK_BODY_BYTES_MAX: count(mebibyte, 1024),
  /** A batch body, after decompression. */
  BATCH_BODY_BYTES_MAX: count(5 * mebibyte, 1024),
  BATCH_ROWS_MAX: count(1000),
  ROW_BYTES_MAX: count(64 * 1024, 256),
  /** What a batch may say once for all of its rows: it travels with each of them. */
  BATCH_CONTEXT_BYTES_MAX: count(8 * 1024, 2),
  /** A compressed batch may grow by this factor at most. */
  GZIP_RATIO_MAX: count(200),
  /** Batches decompressed at a time. */
  GZIP_IN_FLIGHT_MAX: count(16),
  /** Bodies that are still arriving, all together. */
  BODIES_BYTES_MAX: count(128 * mebibyte, mebibyte),
  /** How deep arrays and objects of a body, or of one row of a batch, may nest. */
  JSON_DEPTH_MAX: Type.Integer({ minimum: 4, maximum: jsonDepthCeiling, default: 64 }),
  /** Object keys of one event. */
  JSON_KEYS_MAX: count(10_000),
  /** Object keys of one batch. */
  BATCH_KEYS_MAX: count(100_000),
  /** How far back an event's time may lie, in ms. */
  TIME_PAST_MS_MAX: count(7 * dayMs),
  TIME_AHEAD_MS_MAX: count(300_000, 0),

  /** A frame is closed at this size; a larger single event has one to itself. */
  FRAME_BYTES_MAX: count(512 * 1024, 1024),
  /** How long a frame grows while another one is in flight before it is sent beside it, in ms. */
  FRAME_LINGER_MS: count(5, 0),
  /** Least time between two rounds of frames, in ms; 0 sends a round as soon as the one before is stored. */
  FRAME_ROUND_MS: count(5, 0),
  /** Bytes of events with which a round waits no longer. */
  FRAME_ROUND_BYTES: count(16 * 1024),
  /** Publishes in flight over all partitions; at most one a partition. */
  FRAMES_IN_FLIGHT_MAX: count(2),
  /** Events and bytes that wait for the log or are on their way to it. */
  QUEUE_EVENTS_MAX: count(100_000),
  QUEUE_BYTES_MAX: count(64 * mebibyte, mebibyte),
  /** One try of a publish; there are two within a request's deadline. */
  PUBLISH_TIMEOUT_MS: count(800, 10),
  /** A request is answered within this time after its body arrived. */
  REQUEST_DEADLINE_MS: count(2_000, 500),

  /** How often a trial publish proves that the log stores, in ms. */
  CANARY_EVERY_MS: count(2_000, 50),

  /** Events per second and source key, and how many seconds of them may come at once. */
  RATE_LIMIT_EVENTS_PER_S: count(10_000),
  RATE_LIMIT_BURST_S: count(2),
});

const rules = [
  ...logEnvRules,
  together('GATEWAY_TLS_CERT_FILE', 'GATEWAY_TLS_KEY_FILE'),
  needs('GATEWAY_TLS_PASSPHRASE', 'GATEWAY_TLS_KEY_FILE'),
];

/** The gateway's environment. Throws EnvError with every problem. */
export function readGatewayEnv(source: Readonly<Record<string, string | undefined>> = process.env) {
  const env = readOwnEnv(source);
  const problems = proxyProblems(env.TRUSTED_PROXIES);
  if (problems.length > 0) throw new EnvError(problems);
  return { ...env, TRUSTED_PROXIES: splitProxies(env.TRUSTED_PROXIES) };
}

export type GatewayEnv = ReturnType<typeof readGatewayEnv>;

function readOwnEnv(source: Readonly<Record<string, string | undefined>>) {
  try {
    return readEnv(GatewayEnvSchema, source, (path) => readFileSync(path, 'utf8'), rules);
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    throw new EnvError([...error.problems, ...proxyProblems(source['TRUSTED_PROXIES'] ?? '')]);
  }
}
