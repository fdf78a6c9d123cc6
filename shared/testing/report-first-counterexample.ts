import fc from 'fast-check';

// To shrink a counterexample, fast-check repeats the property many times. With servers behind it that takes minutes,
// and the test would end as timed out, without the counterexample.
fc.configureGlobal({ endOnFailure: true });
