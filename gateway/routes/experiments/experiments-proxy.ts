import { describeAssignments } from '../../../shared/experiments/assignment-bodies.ts';
import type { ClientAddress } from '../../../shared/admission/client-address.ts';
import type { Exchange } from '../../http/exchange.ts';
import { describeCaller } from './describe-caller.ts';
import { createReply, failure, invalid, retryAfterS } from '../../http/reply.ts';
import type { Reply } from '../../http/reply.ts';
import type { ControlPlane, ForwardResult } from './control-plane.ts';
import type { PostRoute } from '../../http/route.ts';
import { decodeSegment } from '../../http/request-head.ts';
import { refuseNonJson } from '../../http/exchange.ts';

export type ExperimentsProxyOptions = {
  /** If undefined, no control plane is configured, and the gateway does not serve experiments. */
  readonly controlPlane: ControlPlane | undefined;
  readonly clientAddress: ClientAddress;
};

/** The control plane's limit of a body, in bytes. */
const bodyBytesMax = 64 * 1024;

/**
 * `POST /api/v1/experiments/assignments/{experiment_key}` and `POST /api/v1/experiments/personalization`: the control
 * plane's experiments under the ingest address. The gateway forwards requests without reading them.
 */
export function createExperimentsRoutes({
  controlPlane,
  clientAddress,
}: ExperimentsProxyOptions): readonly PostRoute[] {
  const forward = (exchange: Exchange, path: string, body: Buffer): void => {
    if (controlPlane === undefined) return exchange.send(notServed);
    // Copied: the engine reuses the body's bytes after this call.
    void controlPlane.post(path, describeCaller(exchange, clientAddress), Buffer.from(body)).then(
      (result) => exchange.send(replyTo(result)),
      (error: unknown) => exchange.fail(error),
    );
  };
  return [
    {
      name: 'assignments',
      method: 'post',
      paths: ['/api/v1/experiments/assignments/:key'],
      // One description for both routes.
      openapi: { paths: described },
      bodyBytesMax,
      refuse: refuseNonJson,
      accept(exchange, body, segment) {
        const key = decodeSegment(segment);
        if (key === '') return exchange.send(badKey);
        forward(exchange, `/experiments/assignments/${encodeURIComponent(key)}`, body);
      },
    },
    {
      name: 'personalization',
      method: 'post',
      paths: ['/api/v1/experiments/personalization'],
      openapi: { paths: {} },
      bodyBytesMax,
      refuse: refuseNonJson,
      accept: (exchange, body) => forward(exchange, '/experiments/personalization', body),
    },
  ];
}

const described = describeAssignments({
  prefix: '/api/v1',
  keyName: 'experiment_key',
  members: {},
  failures: { 404: 'This gateway serves no experiments.' },
});

const badKey = invalid('the experiment key must be valid percent-encoded text');
const notServed = failure(404, 'experiments are not served here: the gateway was started without CONTROL_PLANE_URL');
const away = failure(503, 'experiments cannot be served now; try again', {
  headers: [['retry-after', String(retryAfterS)]],
});

function replyTo(result: ForwardResult): Reply {
  if (result.kind === 'failed') return away;
  const { status, body, retryAfter } = result.answer;
  const headers: [name: string, value: string][] = [['content-type', 'application/json']];
  if (retryAfter !== undefined) headers.push(['retry-after', retryAfter]);
  return createReply(status, body, { headers });
}
