import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import { hashedVisitor, recordAudit } from '../audit/record-audit.ts';

/** Records which principal read which visitor. Called before the answer: a read that cannot be recorded is refused. */
export async function recordRead(
  { storage, now }: CoreServices,
  principal: Principal,
  id: unknown,
  details: { readonly by: string; readonly isFound: boolean; readonly scope: string | undefined },
): Promise<void> {
  const em = storage.fork();
  const whom = typeof id === 'string' ? { entityId: hashedVisitor(id) } : {};
  recordAudit(
    em,
    principal,
    { action: 'visitor.read', ...whom, details: { ...details, scope: details.scope ?? null } },
    now(),
  );
  await em.flush();
}
