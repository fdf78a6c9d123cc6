import { createHash } from 'node:crypto';
import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';

/** Notes who looked at whom, before it is shown: what cannot be audited is not. */
export async function recordRead(
  { storage, now }: CoreServices,
  principal: Principal,
  id: unknown,
  details: { readonly by: string; readonly isFound: boolean },
): Promise<void> {
  const em = storage.fork();
  const whom = typeof id === 'string' ? { entityId: hashedId(id) } : {};
  recordAudit(em, principal, { action: 'visitor.read', ...whom, details }, now());
  await em.flush();
}

/** Lets an auditor who has the id of a visitor find the entry, and nobody else the visitor. */
export function hashedId(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
