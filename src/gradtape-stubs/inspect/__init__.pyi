# Written by tools/write_stubs.py.
from gradtape.api.debugging.recordings import (
    LoadedTape as LoadedTape,
    load_tape as load_tape,
)
from gradtape.inspect.causes.explain import (
    explain as explain,
)
from gradtape.inspect.causes.missing import (
    why_missing as why_missing,
)
from gradtape.inspect.causes.nonfinite import (
    Diagnosis as Diagnosis,
    diagnose as diagnose,
)
from gradtape.inspect.causes.reasons import (
    Cause as Cause,
    Explanation as Explanation,
    Reason as Reason,
)
from gradtape.inspect.causes.reported import (
    tracing as tracing,
)
from gradtape.inspect.checks.gradient_check import (
    GradientCheck as GradientCheck,
    check_gradients as check_gradients,
)
from gradtape.inspect.checks.opcheck import (
    CHECKS as CHECKS,
    check_op as check_op,
)
from gradtape.inspect.checks.precision import (
    PrecisionAudit as PrecisionAudit,
    audit_precision as audit_precision,
)
from gradtape.inspect.checks.rule_check import (
    RuleCheck as RuleCheck,
    check_rules as check_rules,
)
from gradtape.inspect.costs.example_norms import (
    ExampleNorms as ExampleNorms,
    example_norms as example_norms,
)
from gradtape.inspect.costs.flow import (
    Flow as Flow,
    flow as flow,
)
from gradtape.inspect.costs.memory import (
    LiveTapes as LiveTapes,
    Memory as Memory,
    live_tapes as live_tapes,
    memory as memory,
)
from gradtape.inspect.costs.overview import (
    Overview as Overview,
    overview as overview,
)
from gradtape.inspect.costs.profile import (
    Profile as Profile,
    profile as profile,
)
from gradtape.inspect.costs.sparsity import (
    Sparsity as Sparsity,
    sparsity as sparsity,
)
from gradtape.inspect.recordings.compare import (
    Comparison as Comparison,
    compare as compare,
)
from gradtape.inspect.recordings.recordings import (
    save_tape as save_tape,
)
from gradtape.inspect.records import (
    checked as checked,
    event_log as event_log,
)
from gradtape.inspect.reports.report import (
    report as report,
)
from gradtape.inspect.reports.steps import (
    Step as Step,
    Steps as Steps,
    record_steps as record_steps,
)
import sys
if sys.platform == "jedi":
    del (
        Any,
        causes,
        checks,
        costs,
        drawings,
        importlib,
        recordings,
        records,
        reports,
    )
