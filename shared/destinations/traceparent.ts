import { hash } from 'node:crypto';

const given = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;

/**
 * The W3C trace context header of a delivery (https://www.w3.org/TR/trace-context/, version 00): in the trace of the
 * request that brought the event where it had one, else in a trace of its own. Derived from the ids, so that every
 * attempt of an event says the same.
 */
export function traceparentOf(eventIds: readonly string[], trace: string | undefined): string {
  const own = hash('sha256', eventIds.join('\n'), 'hex');
  const span = own.slice(32, 48);
  const [, traceId, flags] = (trace === undefined ? undefined : given.exec(trace)) ?? [];
  return `00-${traceId ?? own.slice(0, 32)}-${span}-${flags ?? '00'}`;
}
