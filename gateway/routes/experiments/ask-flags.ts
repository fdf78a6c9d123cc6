import { Compile } from 'typebox/compile';
import { flagsReply } from '../../../shared/experiments/assignment-bodies.ts';
import type { AskFlags } from '../compat/flag-values.ts';
import { describeCaller } from './describe-caller.ts';
import type { ExperimentsProxyOptions } from './experiments-proxy.ts';

const isReply = Compile(flagsReply);

/**
 * Requests flags from the control plane. If no control plane is configured, there are no experiments and so no flags.
 */
export function createAskFlags({ controlPlane, clientAddress }: ExperimentsProxyOptions): AskFlags {
  return async (exchange, { token, visitorId, keys }) => {
    if (controlPlane === undefined) return {};
    const body = Buffer.from(JSON.stringify({ token, visitor_id: visitorId, keys }));
    const result = await controlPlane.post('/experiments/flags', describeCaller(exchange, clientAddress), body);
    if (result.kind === 'failed' || result.answer.status !== 200) return undefined;
    const reply = readJson(result.answer.body);
    return isReply.Check(reply) ? reply.flags : undefined;
  };
}

/** Parses JSON; undefined if the bytes are not JSON. */
function readJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
