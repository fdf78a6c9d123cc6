import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { ask, done, erasureDelete, erasurePost, inTurn, noIdentifier } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';

type Given = {
  readonly siteId: string;
  readonly apiKey: string;
  readonly region: { readonly url: string };
  readonly baseUrl: string | undefined;
};

/**
 * Customer.io, Track API: `DELETE /api/v1/customers/{identifier}`, or `POST …/suppress`, after which Customer.io also
 * refuses the identifier. https://docs.customer.io/integrations/api/track/
 */
export function eraseAtCustomerio({ siteId, apiKey, region, baseUrl }: Given): PreparedErasure {
  const base = `${baseUrl ?? region.url}/api/v1/customers`;
  const headers = { authorization: basicAuthorization(siteId, apiKey) };
  return {
    begin({ subject, isSuppressed }) {
      const ids = [...subject.externalIds, ...subject.emails];
      if (ids.length === 0) return noIdentifier('external id and e-mail address');
      return inTurn(
        ids,
        (id, next) => {
          const url = `${base}/${encodeURIComponent(id)}`;
          const request = isSuppressed ? erasurePost(`${url}/suppress`, headers, {}) : erasureDelete(url, headers);
          return ask(request, next, [404]);
        },
        done,
      );
    },
  };
}
