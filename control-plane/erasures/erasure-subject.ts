import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { erasureSubjectContext } from '../../shared/contracts/config/secrets.ts';
import type { ErasureSubject } from '../../shared/destinations/sdk/erasure.ts';
import { e164Of } from '../../shared/destinations/sdk/person.ts';
import type { ErasedPerson } from '../../shared/visitors/erased-person.ts';

/** The identifiers of an erased person, sealed and kept until all destinations have deleted the person. */
export function sealSubject(
  secretBox: SecretBox,
  accountId: string,
  erasureId: string,
  { visitorIds, externalIds, emails, phones }: ErasedPerson,
): string {
  const subject: ErasureSubject = {
    visitorIds,
    externalIds,
    emails,
    phones: [...new Set(phones.flatMap(({ number, country }) => e164Of({ country })(number) ?? []))],
  };
  return secretBox.seal(JSON.stringify(subject), erasureSubjectContext(accountId, erasureId));
}

/** Opens sealed identifiers. Throws SecretError if no key opens them. */
export function openSubject(
  secretBox: SecretBox,
  accountId: string,
  erasureId: string,
  sealed: string,
): ErasureSubject {
  return JSON.parse(secretBox.open(sealed, erasureSubjectContext(accountId, erasureId))) as ErasureSubject;
}
