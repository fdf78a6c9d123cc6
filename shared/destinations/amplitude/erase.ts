import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { ask, done, erasureGet, erasurePost, manual, noIdentifier } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';
import { optionalSecret } from '../sdk/settings.ts';

const hosts: Readonly<Record<string, string>> = {
  US: 'https://amplitude.com',
  EU: 'https://analytics.eu.amplitude.com',
};
const idsMax = 100;

export const amplitudeErasureSettings = {
  secretKey: optionalSecret({
    label: 'Secret key',
    sublabel: 'From the project settings. Only needed to forward erasures.',
  }),
};

type Given = {
  readonly apiKey: string;
  readonly secretKey: string | undefined;
  readonly region: { readonly value: string };
  readonly baseUrl: string | undefined;
};

/**
 * Amplitude's User Privacy API: `POST /api/2/deletions/users` with up to 100 user ids, which are deleted within 30
 * days; `GET` lists the jobs of a range of days. https://amplitude.com/docs/apis/analytics/user-privacy
 */
export function eraseAtAmplitude({ apiKey, secretKey, region, baseUrl }: Given): PreparedErasure {
  if (secretKey === undefined) return manual('The destination has no secret key, which erasures need.');
  const url = `${baseUrl ?? hosts[region.value] ?? hosts['US']}/api/2/deletions/users`;
  const headers = { authorization: basicAuthorization(apiKey, secretKey) };
  return {
    begin({ subject: { externalIds } }) {
      if (externalIds.length === 0) return noIdentifier('external id');
      if (externalIds.length > idsMax) {
        return { kind: 'manual', reason: `Amplitude deletes up to ${idsMax} ids at once; this visitor has more.` };
      }
      // With ignore_invalid_id, a user whom Amplitude does not know causes no error.
      const body = { user_ids: externalIds, requester: 'Sluice', ignore_invalid_id: 'true', delete_from_org: 'false' };
      return ask(erasurePost(url, headers, body), (answer) => {
        // The job with the latest day is the last to finish.
        const day = jobsIn(answer.body)
          .map((job) => job.day)
          .toSorted()
          .at(-1);
        return { kind: 'requested', reference: day };
      });
    },
    poll: (day) =>
      ask(erasureGet(`${url}?start_day=${day}&end_day=${day}`, headers), ({ body }) => {
        const jobs = jobsIn(body).filter((job) => job.day === day);
        const isDone = jobs.length > 0 && jobs.every(({ status }) => status === 'done');
        return isDone ? done : { kind: 'requested', reference: day };
      }),
  };
}

type Job = { readonly day: string; readonly status: unknown };

/** The jobs in a response, which is one job or a list; empty if the response is not readable. */
function jobsIn(body: string): readonly Job[] {
  try {
    return [JSON.parse(body) as unknown].flat().flatMap((job) => {
      if (!isJsonObject(job) || typeof job['day'] !== 'string') return [];
      return /^\d{4}-\d{2}-\d{2}$/.test(job['day']) ? [{ day: job['day'], status: job['status'] }] : [];
    });
  } catch {
    return [];
  }
}
