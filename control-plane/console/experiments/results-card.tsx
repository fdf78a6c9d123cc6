import { useState } from 'react';
import type { ReactElement } from 'react';
import { useRead } from '../api/queries.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { showCount, showShare } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { compareWithControl } from './experiment.ts';
import type { Results } from './experiment.ts';
import { IntervalChart } from './interval-chart.tsx';
import { SampleRatio } from './sample-ratio.tsx';

const confidences = [80, 90, 95, 99];

/** The results of an experiment: each variant's rate with its interval, and the sample ratio check. */
export function ResultsCard({ id }: { readonly id: string }): ReactElement {
  const [confidence, setConfidence] = useState(95);
  const query = useRead<Results>(`/experiments/${id}/results?confidencePercent=${confidence}`, { everyMs: 5_000 });
  const results = query.data;
  return (
    <Card title="Results">
      <Waiting query={query} />
      {results === undefined ? null : results.visitors === 0 ? (
        <Empty title="No visitor has seen a variant yet.">
          <p>Visitors count once a page requests the experiment with track_impression and the version is live.</p>
        </Empty>
      ) : (
        <>
          <SampleRatio results={results} />
          {results.primaryMetric === null ? (
            <p className="note warn">No conversion event is set. Choose one below.</p>
          ) : (
            <>
              <div className="row between">
                <p>
                  {showCount(results.conversions)} of {showCount(results.visitors)} visitors sent{' '}
                  <strong dir="auto">{results.primaryMetric.event}</strong> at or after their first impression.
                </p>
                <Field label="Confidence">
                  {(ids) => (
                    <select {...ids} value={confidence} onChange={(event) => setConfidence(Number(event.target.value))}>
                      {confidences.map((percent) => (
                        <option key={percent} value={percent}>
                          {percent} %
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
              </div>
              <IntervalChart results={results} />
            </>
          )}
          <Figures results={results} />
          <Explanation results={results} />
        </>
      )}
    </Card>
  );
}

function Explanation({
  results: { confidencePercent, sampleRatio, primaryMetric },
}: {
  readonly results: Results;
}): ReactElement {
  return (
    <details>
      <summary>How to read these results</summary>
      <dl className="facts">
        {primaryMetric === null ? null : (
          <>
            <dt>Rate</dt>
            <dd>
              Visitors who converted, of all visitors who saw the variant. It is an estimate: more visitors change it.
            </dd>
            <dt>Interval</dt>
            <dd>
              The rates that are consistent with these results. {confidencePercent} % of such intervals contain the true
              rate. Few visitors make the interval wide; a higher confidence makes it wider.
            </dd>
            <dt>Against control</dt>
            <dd>
              “Above” or “below the control” means that the two intervals do not overlap: chance alone is an unlikely
              explanation of the difference. “No difference shown yet” does not mean that there is none. Decide how many
              visitors you want before you start: an experiment that is stopped at its first good moment shows
              differences that are due to chance.
            </dd>
          </>
        )}
        <dt>Split</dt>
        <dd>
          The sample ratio check compares how many visitors each variant has with its weight. p is the probability of a
          difference at least as large if the split works as set; below 0.001 (a sample ratio mismatch, SRM) the groups
          differ in more than their variant, and no result can be trusted.
          {sampleRatio === null ? ' It needs at least five expected visitors in each variant.' : ''}
        </dd>
      </dl>
    </details>
  );
}

const verdicts = {
  above: ['good', 'Above the control'],
  below: ['bad', 'Below the control'],
  undecided: ['off', 'No difference shown yet'],
} as const;

function Figures({ results }: { readonly results: Results }): ReactElement {
  return (
    <Table
      label="Results by variant"
      rows={results.variants}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Variant',
          cell: ({ name, isControl }) => (
            <>
              <span className="clip" dir="auto">
                {name}
              </span>
              {isControl ? <span className="hint">control</span> : null}
            </>
          ),
        },
        { title: 'Visitors', isNumber: true, cell: ({ visitors }) => showCount(visitors) },
        { title: 'Conversions', isNumber: true, cell: ({ conversions }) => showCount(conversions) },
        { title: 'Rate', isNumber: true, cell: ({ conversionRate }) => showShare(conversionRate) },
        {
          title: 'Interval',
          isNumber: true,
          cell: ({ confidenceInterval: interval }) =>
            interval === null ? '–' : `${showShare(interval.low)} – ${showShare(interval.high)}`,
        },
        {
          title: 'Against control',
          cell: (variant) => {
            if (variant.isControl || results.primaryMetric === null) return '–';
            const [tone, word] = verdicts[compareWithControl(variant, results.variants)];
            return <State tone={tone}>{word}</State>;
          },
        },
      ]}
    />
  );
}
