import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { AuditedAction } from '../audit/record-audit.ts';
import { edit } from './edit-entities.ts';
import type { Editing } from './edit-entities.ts';

export type AuditedEffect<Checked, Result> = {
  readonly audited: AuditedAction;
  /** Throws if the effect is not permitted. */
  check(editing: Editing): Promise<Checked>;
  /**
   * An effect outside the database. It runs outside any transaction, so it holds no connection and no lock of the
   * account.
   */
  effect(checked: Checked): Promise<Result>;
};

/**
 * Runs an effect that no transaction can undo. The audit entry is committed first, so that an effect that cannot be
 * audited does not happen. If the effect fails, a second entry records it: `<action>-failed`.
 */
export async function withAudit<Checked, Result>(
  services: CoreServices,
  principal: Principal,
  { audited, check, effect }: AuditedEffect<Checked, Result>,
): Promise<Result> {
  const checked = await edit(services, principal, async (editing) => {
    const passed = await check(editing);
    recordAudit(editing.em, principal, audited, editing.now);
    return passed;
  });
  try {
    return await effect(checked);
  } catch (error) {
    const failed = { ...audited, action: `${audited.action}-failed` };
    // The error of the effect is thrown, even if this entry cannot be recorded.
    await edit(services, principal, async ({ em, now }) => recordAudit(em, principal, failed, now)).catch(
      () => undefined,
    );
    throw error;
  }
}
