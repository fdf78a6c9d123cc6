import type { Credentials } from '../../../local/credentials.ts';
import type { StackClient } from '../../../local/testing/stack-client.ts';
import type { OddTexts } from './hostile-texts.ts';

export type FilledExperiments = {
  /** An experiment whose other variant does better than the control. */
  readonly measuredId: string;
  /** An experiment whose weights were changed while it ran, so the split of visitors does not match them. */
  readonly mismatchedId: string;
  /** An experiment that is not started. */
  readonly preparedId: string;
};

const visitorsEach = 100;

/** Adds published experiments with visitors and conversions to a fresh stack, and changes a weight in the draft. */
export async function fillExperiments(
  credentials: Credentials,
  client: StackClient,
  odd: OddTexts,
): Promise<FilledExperiments> {
  const add = async (key: string, fields: object): Promise<string> =>
    String((await client.api('POST', 'collections/experiments', { name: key, key, ...fields }))['id']);
  const addVariant = async (experimentId: string, fields: object): Promise<string> =>
    String((await client.api('POST', 'collections/experimentVariants', { experimentId, ...fields }))['id']);
  await client.api('POST', 'collections/experimentSettings', {});
  const primaryMetric = { event: 'Order Completed' };
  const measuredId = await add('checkout-button', { name: 'Colour of the checkout button', primaryMetric });
  await addVariant(measuredId, { name: 'Grey, as today', isControl: true });
  await addVariant(measuredId, { name: 'Green', weight: 50, properties: { colour: '#1b7443' } });
  const mismatchedId = await add('free-shipping', { name: 'Banner for free shipping', primaryMetric });
  await addVariant(mismatchedId, { name: 'Without', isControl: true });
  const banner = await addVariant(mismatchedId, { name: 'With the banner', weight: 50 });
  const preparedId = await add('prepared', {
    name: odd.markup,
    description: odd.rightToLeft,
    primaryMetric: { event: odd.long.slice(0, 1_000) },
  });
  await addVariant(preparedId, { name: odd.markup, isControl: true, properties: { note: odd.rightToLeft } });
  for (const id of [measuredId, mismatchedId]) await client.api('POST', `collections/experiments/${id}/start`);
  await client.publish('Experiments');
  await convert(client, await assignVisitors(credentials, 'checkout-button', visitorsEach));
  await assignVisitors(credentials, 'free-shipping', visitorsEach);
  await client.api('PATCH', `collections/experimentVariants/${banner}`, { weight: 5 });
  return { measuredId, mismatchedId, preparedId };
}

type Assigned = { readonly visitorId: string; readonly isControl: boolean };

/** Requests assignments as a page does, for visitors who all see their variant. Throws if no experiment runs. */
export async function assignVisitors(
  { controlPlane, sourceToken }: Credentials,
  key: string,
  visitors: number,
): Promise<readonly Assigned[]> {
  const ask = async (visitorId: string): Promise<Assigned | undefined> => {
    const answer = await fetch(`${controlPlane}/experiments/assignments/${key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: sourceToken, visitor_id: visitorId, track_impression: true }),
      signal: AbortSignal.timeout(15_000),
    });
    const { in_experiment: isIn, is_control: isControl } = (await answer.json()) as Readonly<Record<string, unknown>>;
    return isIn === true ? { visitorId, isControl: isControl === true } : undefined;
  };
  const first = await untilThere(() => ask(`${key}-0`), `experiment ${key}`);
  const others = await Promise.all(Array.from({ length: visitors - 1 }, (_, index) => ask(`${key}-${index + 1}`)));
  return [first, ...others.filter((one) => one !== undefined)];
}

/** Polls until `find` returns a value, because a published change takes effect a moment later. */
async function untilThere<Value>(find: () => Promise<Value | undefined>, what: string): Promise<Value> {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} does not run`);
}

/** Sends conversions for every eighth visitor of the control and every second visitor of the other variants. */
async function convert(client: StackClient, assigned: readonly Assigned[]): Promise<void> {
  const buys = (group: readonly Assigned[], every: number): readonly Assigned[] =>
    group.filter((_, index) => index % every === 0);
  const buyers = [
    ...buys(
      assigned.filter(({ isControl }) => isControl),
      8,
    ),
    ...buys(
      assigned.filter(({ isControl }) => !isControl),
      2,
    ),
  ];
  await Promise.all(
    buyers.map(({ visitorId }) =>
      client.track({ event: 'Order Completed', userId: visitorId, eventProperties: { total: 20 } }),
    ),
  );
}
