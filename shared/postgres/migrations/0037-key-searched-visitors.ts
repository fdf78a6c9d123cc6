import { Migration } from '@mikro-orm/migrations';

/** Audit entries for searches of the log by visitor get the keyed hash of the visitor's id, like those for other reads. */
export class KeySearchedVisitors extends Migration {
  override up(): void {
    this.addSql('drop trigger key_audited_visitors on audit_entries');
    this.addSql(`
      create trigger key_audited_visitors before insert on audit_entries for each row
        when ((new.action like 'visitor.%' or new.action in ('event.list', 'event.search'))
          and new.entity_id ~ '^[0-9a-f]{64}$')
        execute function key_audited_visitor()`);
    // After the trigger: it locks the table, so no entry is recorded in between.
    this.addSql(`update audit_entries set entity_id = encode(erasure_hash_of(entity_id), 'hex')
      where action = 'event.search' and entity_id ~ '^[0-9a-f]{64}$'`);
  }

  override down(): void {
    this.addSql('drop trigger key_audited_visitors on audit_entries');
    this.addSql(`
      create trigger key_audited_visitors before insert on audit_entries for each row
        when ((new.action like 'visitor.%' or new.action = 'event.list') and new.entity_id ~ '^[0-9a-f]{64}$')
        execute function key_audited_visitor()`);
  }
}
