import pg from 'pg';
import { SecretError } from '../../../shared/contracts/config/secrets.ts';
import { fail, warn } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';

const insufficientPrivilege = '42501';
/** Codes for a table and for a column that does not exist. */
const notMigrated: ReadonlySet<string | undefined> = new Set(['42P01', '42703']);

/** The finding for secrets that could not be read or opened. `without` says what fails without the right key. */
export function judgeSecretsFailure(about: string, error: unknown, without: string): Finding {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof SecretError) {
    return fail(about, reason, `use the key that sealed the secrets of this database: without it ${without}`);
  }
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  if (code === insufficientPrivilege) {
    return warn(
      about,
      'this role may not read sealed secrets',
      'fine for a pipeline; else run the doctor with the role of control planes',
    );
  }
  const notTested = 'not tested: the sealed secrets could not be read';
  if (notMigrated.has(code)) return warn(about, notTested, 'migrate first');
  return warn(about, `${notTested}: ${reason}${code === undefined ? '' : ` (${code})`}`, 'run the doctor again');
}
