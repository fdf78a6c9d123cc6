import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes to list the actions of one key, and the actions on one entity, newest first. Created without blocking
 * writers.
 */
export class IndexAudit extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const [name, column] of indexes) {
      // An interrupted run leaves an invalid index.
      this.addSql(`drop index concurrently if exists ${name}`);
      this.addSql(`create index concurrently ${name} on audit_entries (account_id, ${column}, id)`);
    }
  }

  override down(): void {
    for (const [name] of indexes) this.addSql(`drop index ${name}`);
  }
}

const indexes = [
  ['audit_entries_of_actor', 'actor_id'],
  ['audit_entries_of_entity', 'entity_id'],
] as const;
