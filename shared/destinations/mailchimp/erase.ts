import { md5 } from '../../routing/modifications/digests.ts';
import { ask, done, erasurePost, inTurn, noIdentifier } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';
import { normaliseEmail } from '../sdk/person.ts';

/**
 * Mailchimp: `POST …/members/{hash}/actions/delete-permanent`, after which the address cannot be imported again.
 * https://mailchimp.com/developer/marketing/api/list-members/delete-list-member/
 */
export function eraseAtMailchimp(members: string, headers: Readonly<Record<string, string>>): PreparedErasure {
  return {
    begin({ subject }) {
      const emails = subject.emails.flatMap((email) => normaliseEmail(email) ?? []);
      if (emails.length === 0) return noIdentifier('e-mail address');
      return inTurn(
        emails,
        (email, next) =>
          ask(erasurePost(`${members}/${md5(email)}/actions/delete-permanent`, headers, {}), next, [404]),
        done,
      );
    },
  };
}
