import type { ReactElement } from 'react';
import { State } from '../design/feedback.tsx';
import { showCount, showShare } from '../design/numbers.ts';
import type { Results } from './experiment.ts';

/** Says whether the split of visitors matches the weights. If it does not, no result can be trusted. */
export function SampleRatio({
  results: { variants, visitors, sampleRatio },
}: {
  readonly results: Results;
}): ReactElement {
  return (
    <div className={sampleRatio?.isMismatch === true ? 'ratio note bad' : 'ratio stack'}>
      <Verdict sampleRatio={sampleRatio} />
      <div className="spread">
        {variants.map(({ id, name, visitors: own, expectedShare }, index) => (
          <div key={id} className="interval">
            <span className="clip" dir="auto">
              {name}
            </span>
            <div>
              <svg width="100%" height="16" aria-hidden="true">
                <rect className={`s${index % 6}`} y="3" height="10" width={`${(own / visitors) * 100}%`} />
                <line className="meant" x1={`${expectedShare}%`} x2={`${expectedShare}%`} y1="0" y2="16" />
              </svg>
              <span className="hint">
                {showCount(own)} visitors, {showShare(own / visitors)}; {showShare(expectedShare / 100)} are expected
              </span>
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}

function Verdict({ sampleRatio }: Pick<Results, 'sampleRatio'>): ReactElement {
  if (sampleRatio === null) return <State tone="off">Too few visitors to check the split</State>;
  const { pValue, isMismatch } = sampleRatio;
  const chance = pValue < 0.0001 ? 'less than 0.0001' : pValue.toFixed(4);
  if (!isMismatch) return <State tone="good">The split matches the weights (p = {chance})</State>;
  return (
    <div role="alert" className="stack tight">
      <strong>Do not trust these results: the split does not match the weights.</strong>
      <p>
        By chance this happens with a probability of {chance}. Either the weights changed while the experiment ran
        (visitors keep their variant), or one variant loses visitors before they are counted: check redirects and page
        errors.
      </p>
    </div>
  );
}
