import { isId } from '../../shared/contracts/subjects.ts';
import { ApiError, badRequest, forbidden } from '../api/api-error.ts';
import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import type { ServiceValues } from '../api/services.ts';
import { withAudit } from '../draft/audited-effect.ts';
import { hasScope } from '../keys/scopes.ts';
import { publishing } from '../publishing/publishing-service.ts';
import { quarantine } from '../quarantine/quarantine-service.ts';
import type { ReleasedByRule } from '../quarantine/quarantine-service.ts';

/**
 * How long to wait until all processes run the version: a process with the previous version would quarantine the events
 * again.
 */
const appliedWithinMs = 10_000;

const used = { publishing, quarantine };

/** The rules of a request. Throws a 403 without the scope, a 400 for an id that no rule can have. */
export function rulesToRelease({ scopes }: Principal, rules: readonly string[] | null | undefined): readonly string[] {
  if (rules === null || rules === undefined || rules.length === 0) return [];
  if (!hasScope(scopes, 'quarantine:release')) throw forbidden('quarantine:release');
  const wrong = rules.findIndex((rule) => !isId(rule));
  if (wrong >= 0) throw badRequest(`releaseQuarantine[${wrong}] must be the id of a rule`);
  return rules;
}

/**
 * Waits until a version is live, then releases quarantined events, in order. `outboxId` is undefined if it was already
 * live.
 */
export async function applyAndRelease(
  services: CoreServices & ServiceValues<typeof used>,
  principal: Principal,
  outboxId: number | undefined,
  rules: readonly string[],
): Promise<{ readonly quarantineReleased?: readonly (ReleasedByRule & { readonly rule: string })[] }> {
  const isWaiting = rules.length > 0;
  const isApplied =
    outboxId === undefined ||
    (await services.publishing.whenApplied(outboxId, isWaiting ? appliedWithinMs : undefined));
  if (!isWaiting) return {};
  const quarantineReleased: (ReleasedByRule & { readonly rule: string })[] = [];
  for (const rule of rules) {
    const done = isApplied ? await release(services, principal, rule) : notReleased;
    quarantineReleased.push({ rule, ...done });
  }
  return { quarantineReleased };
}

const notReleased: ReleasedByRule = { released: 0, isComplete: false };

function release(
  services: CoreServices & ServiceValues<typeof used>,
  principal: Principal,
  rule: string,
): Promise<ReleasedByRule> {
  return withAudit(services, principal, {
    audited: { action: 'quarantine.release', details: { rule, from: null, to: null, ids: null } },
    check: () => Promise.resolve(),
    effect: () => services.quarantine.releaseRule(principal.accountId, rule),
  }).catch((error: unknown) => {
    // The version stays live; the audit trail records that the release failed.
    if (error instanceof ApiError && error.status === 503) return notReleased;
    throw error;
  });
}
