import { basicAuthorization } from '../../egress/basic-authorization.ts';
import type { OutboundAnswer } from '../../egress/outbound.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { ask, done, erasureGet, erasurePost, inTurn, manual, noIdentifier } from '../sdk/erasure.ts';
import type { ErasureStep, PreparedErasure } from '../sdk/erasure.ts';
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
 * Amplitude's User Privacy API: `POST /api/2/deletions/users` with up to 100 users, which are deleted within 30 days;
 * `GET` lists the jobs of a range of days. https://amplitude.com/docs/apis/analytics/user-privacy. Users are named by
 * user id or by Amplitude's own id, which `GET /api/2/usersearch` finds for the device id of an anonymous visitor:
 * https://amplitude.com/docs/apis/analytics/dashboard-rest
 */
export function eraseAtAmplitude({ apiKey, secretKey, region, baseUrl }: Given): PreparedErasure {
  if (secretKey === undefined) return manual('The destination has no secret key, which erasures need.');
  const base = `${baseUrl ?? hosts[region.value] ?? hosts['US']}/api/2`;
  const url = `${base}/deletions/users`;
  const headers = { authorization: basicAuthorization(apiKey, secretKey) };
  const deleteUsers = (userIds: readonly string[], amplitudeIds: readonly number[]): ErasureStep => {
    const count = userIds.length + amplitudeIds.length;
    if (count === 0) return { kind: 'nothing', reason: 'Amplitude knows no user with an id of this visitor.' };
    if (count > idsMax) {
      return { kind: 'manual', reason: `Amplitude deletes up to ${idsMax} ids at once; this visitor has more.` };
    }
    const body = {
      user_ids: userIds,
      amplitude_ids: amplitudeIds,
      requester: 'Sluice',
      // With this, a user whom Amplitude does not know causes no error.
      ignore_invalid_id: 'true',
      delete_from_org: 'false',
    };
    return ask(erasurePost(url, headers, body), (answer) => {
      // The job with the latest day is the last to finish.
      const day = jobsIn(answer.body)
        .map((job) => job.day)
        .toSorted()
        .at(-1);
      return { kind: 'requested', reference: day };
    });
  };
  return {
    begin({ subject: { externalIds, visitorIds } }) {
      if (externalIds.length + visitorIds.length === 0) return noIdentifier('external id and visitor id');
      const amplitudeIds = new Set<number>();
      return inTurn(
        visitorIds,
        (id, next) =>
          ask(erasureGet(`${base}/usersearch?user=${encodeURIComponent(id)}`, headers), (answer) => {
            for (const found of usersIn(answer)) amplitudeIds.add(found);
            return next();
          }),
        () => deleteUsers(externalIds, [...amplitudeIds]),
      );
    },
    poll: (day) =>
      ask(erasureGet(`${url}?start_day=${day}&end_day=${day}`, headers), ({ body }) => {
        const jobs = jobsIn(body).filter((job) => job.day === day);
        const isDone = jobs.length > 0 && jobs.every(({ status }) => status === 'done');
        return isDone ? done : { kind: 'requested', reference: day };
      }),
  };
}

/** Amplitude's ids of the users whom a search found by their whole id; it also finds other users by the start of theirs. */
function usersIn(answer: OutboundAnswer): readonly number[] {
  const { type, matches } = jsonAnswer(answer) ?? {};
  if (type !== 'match_user_or_device_id' || !Array.isArray(matches)) return [];
  return (matches as readonly unknown[]).flatMap((one) => {
    const id = isJsonObject(one) ? one['amplitude_id'] : undefined;
    return typeof id === 'number' ? [id] : [];
  });
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
