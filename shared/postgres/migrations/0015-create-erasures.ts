import { randomBytes } from 'node:crypto';
import { Migration } from '@mikro-orm/migrations';

/**
 * Erased visitors: an HMAC of each id and identity of the visitor, and the time, nothing else. The rows of an erased
 * visitor are deleted. No service can read the key, because `erasure_hash` runs with the owner's rights. The message is
 * hashed before the HMAC, since tombstones of earlier versions have only that hash of an identity.
 *
 * `erasure_notices` has the notices of erasures that were announced in the log, for a log that is restored from an older
 * copy.
 *
 * Tombstones of earlier versions are converted, with their times. During a rolling upgrade an older control plane still
 * creates such tombstones: a trigger converts each of them. Their ids are in notices without a key until a control plane
 * has replaced the ids by hashes, and announces them.
 */
export class CreateErasures extends Migration {
  // Large: the statements of one change.
  override up(): void {
    this.addSql(`
      create table erasures (
        account_id uuid not null,
        hash bytea not null,
        erased_at timestamptz(3) not null,
        suppressed boolean not null default false,
        primary key (account_id, hash)
      )`);
    this.addSql('create index erasures_newest on erasures (erased_at)');
    this.addSql('create index erasures_newest_of_account on erasures (account_id, erased_at)');
    this.addSql('create index erasures_suppressed on erasures (account_id) where suppressed');
    this.addSql(`
      create table erasure_keys (
        only_row boolean primary key default true check (only_row),
        inner_key bytea not null,
        outer_key bytea not null
      )`);
    const { inner, outer } = hmacKeys(randomBytes(64));
    this.addSql(`insert into erasure_keys (inner_key, outer_key)
      values (decode('${inner.toString('hex')}', 'hex'), decode('${outer.toString('hex')}', 'hex'))`);
    this.addSql(`
      create table erasure_notices (
        id uuid not null,
        part int not null,
        account_id uuid not null,
        key_id text not null,
        erased_at timestamptz(3) not null,
        visitors text[] not null,
        primary key (id, part)
      )`);
    this.addSql('create index erasure_notices_of_account on erasure_notices (account_id, erased_at)');
    // Functions name their schema, because code with the owner's rights must not follow a caller's search path.
    this.addSql(`
      do $make$ begin execute format($format$
        create function erasure_hash_of(digest text) returns bytea language sql stable
        security definer set search_path = pg_catalog, pg_temp as $$
          select sha256(outer_key || sha256(inner_key || decode(digest, 'hex'))) from %1$I.erasure_keys
        $$;

        create function erasure_hash(account_id uuid, kind text, value text) returns bytea language sql stable
        security definer set search_path = pg_catalog, pg_temp as $$
          select %1$I.erasure_hash_of(encode(
            sha256(convert_to(account_id::text || e'\\n' || kind || e'\\n' || value, 'UTF8')), 'hex'))
        $$;

        create function convert_tombstone() returns trigger language plpgsql
        security definer set search_path = pg_catalog, pg_temp as $$
          declare
            cluster text[];
          begin
            select array_agg(v.id) into cluster from %1$I.visitors v
              where v.account_id = new.account_id and (v.id = new.id or v.merged_into = new.id);
            insert into %1$I.erasures (account_id, hash, erased_at)
              select new.account_id, %1$I.erasure_hash(new.account_id, 'visitor', id), new.erased_at
              from unnest(cluster) as id
              union
              select new.account_id,
                case when i.value ~ '^erased:[0-9a-f]{64}$' then %1$I.erasure_hash_of(substr(i.value, 8))
                  else %1$I.erasure_hash(new.account_id, i.kind, i.value) end,
                new.erased_at
              from %1$I.visitor_identities i where i.account_id = new.account_id and i.visitor_id = any (cluster)
              on conflict (account_id, hash) do update set erased_at = greatest(erasures.erased_at, excluded.erased_at);
            insert into %1$I.erasure_notices (id, part, account_id, key_id, erased_at, visitors)
              values (gen_random_uuid(), 0, new.account_id, '', new.erased_at, cluster);
            delete from %1$I.visitor_identities i where i.account_id = new.account_id and i.visitor_id = any (cluster);
            delete from %1$I.visitors v where v.account_id = new.account_id and v.id = any (cluster);
            return null;
          end
        $$;
      $format$, current_schema()); end $make$`);
    this.addSql(`
      create trigger convert_tombstones after update on visitors for each row
        when (new.erased_at is not null) execute function convert_tombstone()`);
    this.addSql('update visitors set erased_at = erased_at where erased_at is not null');
  }

  override down(): void {
    this.addSql('drop trigger convert_tombstones on visitors');
    this.addSql('drop function convert_tombstone');
    this.addSql('drop function erasure_hash');
    this.addSql('drop function erasure_hash_of');
    this.addSql('drop table erasure_keys');
    this.addSql('drop table erasure_notices');
    this.addSql('drop table erasures');
  }
}

const blockBytes = 64;

/** The two blocks of HMAC-SHA256 (RFC 2104) for a key of one block. */
function hmacKeys(key: Buffer): { readonly inner: Buffer; readonly outer: Buffer } {
  const padded = (pad: number): Buffer => Buffer.from(key.subarray(0, blockBytes).map((byte) => byte ^ pad));
  return { inner: padded(0x36), outer: padded(0x5c) };
}
