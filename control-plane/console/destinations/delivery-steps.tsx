import type { ReactElement } from 'react';
import { Link } from 'react-router';
import type { Delivery } from '../api/types.ts';
import { showCount } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import { eventsLink } from './delivery-range.ts';

type Step = Delivery['steps'][number];

type StepsProps = {
  readonly steps: readonly Step[];
  readonly stepMs: number;
  readonly destinationId: string;
  readonly event: string;
};

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const parts = [
  ['good', 'delivered', ({ delivered }: Step) => delivered],
  ['warn', 'waiting or retrying', ({ waiting, retrying }: Step) => waiting + retrying],
  ['bad', 'dead letters', ({ deadLetters }: Step) => deadLetters],
  ['off', 'stopped or skipped', ({ filtered }: Step) => filtered],
] as const;

/** A bar for each time step, with a link to the step's events. */
export function DeliverySteps({ steps, stepMs, destinationId, event }: StepsProps): ReactElement {
  const most = Math.max(1, ...steps.map((step) => parts.reduce((sum, [, , of]) => sum + of(step), 0)));
  const name = event === '' ? {} : { name: event };
  const first = steps[0];
  const last = steps.at(-1);
  return (
    <Card title="Over time">
      <figure className="stack tight">
        <ol className="step-bars" aria-label="Steps of time">
          {steps.map((step) => {
            const words = parts.map(([, word, of]) => `${showCount(of(step))} ${word}`).join(', ');
            const label = `${exact.format(new Date(step.at))}: ${words}`;
            return (
              <li key={step.at}>
                <Link
                  to={eventsLink({ destinationId, ...name, fromMs: step.at, toMs: step.at + stepMs })}
                  aria-label={label}
                  title={label}
                >
                  {parts.map(([tone, , of]) => (
                    <span key={tone} className={tone} style={{ height: `${(of(step) / most) * 100}%` }} />
                  ))}
                </Link>
              </li>
            );
          })}
        </ol>
        <div className="row between hint" aria-hidden="true">
          <span>{first === undefined ? '' : exact.format(new Date(first.at))}</span>
          <span>up to {showCount(most)} per bar</span>
          <span>{last === undefined ? '' : hour.format(new Date(last.at + stepMs))}</span>
        </div>
        <figcaption className="legend">
          {parts.map(([tone, word]) => (
            <span key={tone} className={tone}>
              {word}
            </span>
          ))}
        </figcaption>
      </figure>
    </Card>
  );
}
