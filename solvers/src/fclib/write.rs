//! From a problem to bytes.

use super::contact_kind::{ContactKind, coefficients_of};
use super::error::{expect_finite, expect_length};
use super::{FclibError, FclibFile, FclibProblem, FclibVectors, Info};
use crate::{GlobalProblem, Law, SparseMatrix, StoredProblem};
use hdf5_pure::{
    CharacterSet, Datatype, FileBuilder, FinishedGroup, GroupBuilder, LibVer, StringPadding,
};

pub(super) fn file(content: &FclibFile) -> Result<Vec<u8>, FclibError> {
    let contacts = ContactKind::of(content.problem.laws())?;
    let mut builder = FileBuilder::new();
    builder.with_libver_bounds(LibVer::Earliest, LibVer::V18);
    let kind = match (&content.problem, contacts) {
        (FclibProblem::Local(_), ContactKind::Rolling) => "/fclib_local_rolling",
        (FclibProblem::Global(_), ContactKind::Rolling) => "/fclib_global_rolling",
        (FclibProblem::Local(_), _) => "/fclib_local",
        (FclibProblem::Global(_), _) => "/fclib_global",
    };
    let mut group = builder.create_group(&kind[1..]);
    integer(&mut group, kind, "spacedim", contacts.rows())?;
    match &content.problem {
        FclibProblem::Local(problem) => local(&mut group, kind, problem)?,
        FclibProblem::Global(problem) => global(&mut group, kind, problem)?,
    }
    let texts = info(
        group.create_group("info"),
        &format!("{kind}/info"),
        &content.info,
    )?;
    group.add_group(texts);
    builder.add_group(group.finish());
    if !content.guesses.is_empty() {
        let mut group = builder.create_group("guesses");
        integer(
            &mut group,
            "/guesses",
            "number_of_guesses",
            content.guesses.len(),
        )?;
        for (index, guess) in content.guesses.iter().enumerate() {
            let number = (index + 1).to_string();
            let path = format!("/guesses/{number}");
            let guess = vectors(group.create_group(&number), &path, content, guess)?;
            group.add_group(guess);
        }
        builder.add_group(group.finish());
    }
    if let Some(solution) = &content.solution {
        let group = builder.create_group("solution");
        builder.add_group(vectors(group, "/solution", content, solution)?);
    }
    builder
        .finish()
        .map_err(|error| FclibError::hdf5("/", error))
}

fn local(group: &mut GroupBuilder, path: &str, problem: &StoredProblem) -> Result<(), FclibError> {
    problem.validate()?;
    let w = compressed_rows(problem);
    let w = w.write(group.create_group("W"), &format!("{path}/W"))?;
    group.add_group(w);
    let mut vectors = group.create_group("vectors");
    reals(&mut vectors, "q", &problem.free_velocity());
    write_laws(&mut vectors, problem.laws());
    group.add_group(vectors.finish());
    Ok(())
}

fn global(group: &mut GroupBuilder, path: &str, problem: &GlobalProblem) -> Result<(), FclibError> {
    problem.validate()?;
    for (name, matrix) in [("M", &problem.mass), ("H", &problem.kinematic)] {
        let path = format!("{path}/{name}");
        let matrix = triplets(matrix).write(group.create_group(name), &path)?;
        group.add_group(matrix);
    }
    let mut vectors = group.create_group("vectors");
    reals(&mut vectors, "f", &problem.force);
    reals(&mut vectors, "w", &problem.offset);
    write_laws(&mut vectors, &problem.laws);
    group.add_group(vectors.finish());
    Ok(())
}

fn write_laws(vectors: &mut GroupBuilder, laws: &[Law]) {
    let [friction, rolling] = coefficients_of(laws);
    reals(vectors, "mu", &friction);
    if !rolling.is_empty() {
        reals(vectors, "mu_r", &rolling);
    }
}

/// A sparse matrix as a file holds it.
struct Arrays {
    shape: [usize; 2],
    nz: i32,
    p: Vec<usize>,
    i: Vec<usize>,
    x: Vec<f64>,
}

impl Arrays {
    fn write(self, mut group: GroupBuilder, path: &str) -> Result<FinishedGroup, FclibError> {
        integer(&mut group, path, "nzmax", self.x.len())?;
        integer(&mut group, path, "m", self.shape[0])?;
        integer(&mut group, path, "n", self.shape[1])?;
        let nz = if self.nz < 0 {
            self.nz
        } else {
            int32(path, "nz", self.x.len())?
        };
        group.create_dataset("nz").with_i32_data(&[nz]);
        for (name, indices) in [("p", &self.p), ("i", &self.i)] {
            let indices = indices.iter().map(|index| int32(path, name, *index));
            let indices: Vec<i32> = indices.collect::<Result<_, _>>()?;
            group.create_dataset(name).with_i32_data(&indices);
        }
        reals(&mut group, "x", &self.x);
        Ok(group.finish())
    }
}

/// `W` without its zeros; negative zeros stay.
fn compressed_rows(problem: &StoredProblem) -> Arrays {
    let mut arrays = Arrays {
        shape: [problem.rows(); 2],
        nz: -2,
        p: vec![0],
        i: Vec::new(),
        x: Vec::new(),
    };
    // Rows of each triple.
    let mut rows_of = Vec::with_capacity(problem.triples());
    let mut begin = 0;
    for law in problem.laws() {
        let end = begin + law.rows();
        while begin < end {
            let next = end.min(begin + 3);
            rows_of.push(begin..next);
            begin = next;
        }
    }
    for (triple, rows) in rows_of.iter().enumerate() {
        for axis in 0..rows.len() {
            for (column, block) in problem.delassus().row(triple) {
                for (c, column) in rows_of[column].clone().enumerate() {
                    let value = block.col(c)[axis];
                    if value.to_bits() != 0 {
                        arrays.i.push(column);
                        arrays.x.push(value);
                    }
                }
            }
            arrays.p.push(arrays.x.len());
        }
    }
    arrays
}

fn triplets(matrix: &SparseMatrix) -> Arrays {
    let columns = 0..matrix.columns();
    let repeat = |column| std::iter::repeat_n(column, matrix.column(column).count());
    Arrays {
        shape: [matrix.rows(), matrix.columns()],
        nz: 0,
        p: columns.flat_map(repeat).collect(),
        i: matrix.row_index().to_vec(),
        x: matrix.values().to_vec(),
    }
}

fn vectors(
    mut group: GroupBuilder,
    path: &str,
    content: &FclibFile,
    vectors: &FclibVectors,
) -> Result<FinishedGroup, FclibError> {
    for (name, values) in [("u", &vectors.u), ("r", &vectors.r)] {
        let dataset = format!("{path}/{name}");
        expect_length(&dataset, values.len(), content.problem.rows())?;
        expect_finite(&dataset, values)?;
        reals(&mut group, name, values);
    }
    if let Some(v) = &vectors.v {
        let dataset = format!("{path}/v");
        if let Some(n) = content.problem.degrees_of_freedom() {
            expect_length(&dataset, v.len(), n)?;
        }
        expect_finite(&dataset, v)?;
        reals(&mut group, "v", v);
    }
    Ok(group.finish())
}

fn info(mut group: GroupBuilder, path: &str, info: &Info) -> Result<FinishedGroup, FclibError> {
    for (name, text) in [
        ("title", &info.title),
        ("description", &info.description),
        ("math_info", &info.math_info),
    ] {
        let dataset = format!("{path}/{name}");
        if text.contains('\0') {
            return Err(FclibError::Text { dataset });
        }
        let bytes = [text.as_bytes(), &[0]].concat();
        let datatype = Datatype::String {
            size: u32::try_from(bytes.len()).map_err(|e| FclibError::hdf5(&dataset, e))?,
            padding: StringPadding::NullTerminate,
            charset: if text.is_ascii() {
                CharacterSet::Ascii
            } else {
                CharacterSet::Utf8
            },
        };
        let dataset = group.create_dataset(name);
        dataset.with_raw_data(datatype, bytes, 1).with_shape(&[]);
    }
    Ok(group.finish())
}

fn integer(
    group: &mut GroupBuilder,
    path: &str,
    name: &str,
    value: usize,
) -> Result<(), FclibError> {
    let value = int32(path, name, value)?;
    group.create_dataset(name).with_i32_data(&[value]);
    Ok(())
}

fn int32(path: &str, name: &str, value: usize) -> Result<i32, FclibError> {
    i32::try_from(value).map_err(|_| FclibError::Length {
        dataset: format!("{path}/{name}"),
        found: value as u64,
        expected: i32::MAX as u64,
    })
}

fn reals(group: &mut GroupBuilder, name: &str, values: &[f64]) {
    group.create_dataset(name).with_f64_data(values);
}
