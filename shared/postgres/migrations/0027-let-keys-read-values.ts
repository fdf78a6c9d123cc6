import { Migration } from '@mikro-orm/migrations';

/**
 * Keys without the scope `pii:read` see masked values. Existing keys receive this scope, so that they can still read
 * values. Audit entries for reads of a visitor's events get the keyed hash of the visitor's id, like those for changes.
 */
export class LetKeysReadValues extends Migration {
  override up(): void {
    this.addSql(`update api_keys set scopes = array_append(scopes, 'pii:read')
      where not scopes && array['all', 'pii:read']`);
    this.addSql('drop trigger key_audited_visitors on audit_entries');
    this.addSql(`
      create trigger key_audited_visitors before insert on audit_entries for each row
        when ((new.action like 'visitor.%' or new.action = 'event.list') and new.entity_id ~ '^[0-9a-f]{64}$')
        execute function key_audited_visitor()`);
  }

  override down(): void {
    this.addSql('drop trigger key_audited_visitors on audit_entries');
    this.addSql(`
      create trigger key_audited_visitors before insert on audit_entries for each row
        when (new.action like 'visitor.%' and new.entity_id ~ '^[0-9a-f]{64}$') execute function key_audited_visitor()`);
  }
}
